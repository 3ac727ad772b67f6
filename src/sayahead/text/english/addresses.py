"""Web addresses, file names and addresses of machines in words."""

from __future__ import annotations

import re

from sayahead.text.english import tables
from sayahead.text.english.numbers import each, initials, label

_SIGNS = {
    sign: name
    for pair in (
        ".=dot /=slash -=dash _=underscore @=at ?=question+mark \\=backslash ==equals &=and #=hash :=colon ~=tilde "
        "+=plus %=percent *=star"
    ).split()
    for sign, name in [(pair[0], pair[2:].replace("+", " "))]
}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_Y = re.compile("[^aeiou][yY](?![a-z]*[A-Z])")
ENDINGS = tables.EXTENSIONS | tables.DOMAINS | tables.SUFFIX_WORDS.keys()


def url(text: str) -> str:
    """A web address without its scheme and ``www``, or a piece of one."""
    return host(re.sub(r"^[A-Za-z]+://(?:www\.)?|^www\.|^mailto:", "", text, flags=re.IGNORECASE))


def host(text: str) -> str:
    """A host, path or file name with its dots, slashes and dashes said."""
    if machine := re.match(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]+)?(?![\w.])", text):
        return f"{internet(machine[0])} {host(text[machine.end() :])}".rstrip()
    text = re.sub(r"%[0-9A-Fa-f]{2}", " ", re.sub(r"\b__([A-Za-z]+)__", r"\1", text))
    text = text.rstrip("/") if re.search(r"\w/+$", text) else text
    parts = re.findall(r"[^\W\d_]+|[0-9]+|[^\w\s]|_", text)
    return " ".join(filter(None, (_part(part, parts[i - 1] if i else "") for i, part in enumerate(parts))))


def _part(part: str, before: str) -> str:
    low = part.lower()
    if part.isdecimal():
        return label(part)
    if before == "." and low in ENDINGS:
        return tables.SUFFIX_WORDS.get(low) or initials(low)
    if not part.isalpha():
        return _SIGNS.get(part, "")
    if part in tables.SAID and part.isupper():
        return tables.SAID[part]
    humps = _HUMP.split(part)
    if min(map(len, humps)) == 1 and len(part) < 5:
        return tables.HOSTS.get(low) or spelled(part)
    return tables.HOSTS.get(low) or " ".join(map(pronounced, humps))


def pronounced(letters: str) -> str:
    """Letters as a word where that can be said, one by one otherwise."""
    if letters.lower() in tables.SPELLED or (letters.isupper() and len(letters) < 4):
        return initials(letters)
    return (
        letters if re.search("[aeiouAEIOU]", letters[len(letters) < 3 :]) or _Y.search(letters) else initials(letters)
    )


def internet(text: str) -> str:
    """``10.0.0.0/8`` and ``::1``: figures of each part singly, with every dot and colon."""
    parts = re.findall(r"[0-9]+|[A-Za-z]+|[.:/]", text)
    names = {".": "dot", ":": "colon", "/": "slash"}
    plain = parts[-2:-1] == ["/"] or ("." in parts and parts[-2:-1] == [":"])
    words = [names.get(part) or (each(part) if part.isdecimal() else spelled(part)) for part in parts]
    return " ".join([*words[:-1], label(parts[-1])] if plain else words)


def spelled(letters: str) -> str:
    """Letters one by one, apart from each other."""
    return " ".join(initials(letter) for letter in letters)
