"""Reading text aloud in any language: words that nothing later can change, by a record of what is
said how."""
