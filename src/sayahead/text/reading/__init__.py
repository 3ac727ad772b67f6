"""The engine that reads text: rules as values, one automaton a language, tokens to words."""
