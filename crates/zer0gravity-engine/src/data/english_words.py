#!/usr/bin/env python3
"""Makes english_words.txt: English words, the most frequent first.

    english_words.py FOLDER RUST_DOCS > english_words.txt

FOLDER holds the unpacked Debian 12 packages wordnet-base, dict-devil, dict-jargon, r-cran-janeaustenr, golang-1.19-src and
python3.11-doc (`apt-get download`, `dpkg -x`); RUST_DOCS is `share/doc/rust/html` of the toolchain 1.95. NOTICE says whose texts these
are.

A word's rank is the mean, over the five kinds of text, of the logarithm of its share: what all kinds use stands before
what one kind uses often. A word is taken if it is seen in lower case and WordNet knows it or a word that it is an inflected
form of, or if three kinds of text use it often; rude words and words without a, e, i, o, u or y are left out. Nothing of
this repository is read.
"""

import collections
import gzip
import html
import math
import pathlib
import re
import struct
import sys
import zlib

WORD = re.compile(r"(?<![\w'’@.`/\\-])[A-Za-z]+(?:['’][a-z]+)?(?![\w'’@`/\\-]|\.\w)")
SENTENCE_END = re.compile(r"(?:^|[.!?:][\"'”’)]?\s+|[\"“‘])$")
# What a decoder should not guess.
RUDE = {"bastard", "bitch", "cock", "cocks", "dick", "faggot", "fuck", "negro", "nigger", "retard", "retards", "shit", "spic", "whores"}
LONGEST = 20
# Books whose prose is under the licences of Rust itself; the Embedded Book's is not.
RUST_BOOKS = ["book", "cargo", "clippy", "edition-guide", "nomicon", "reference", "rust-by-example", "rustc", "rustdoc", "std", "style-guide"]
# What the dictionary's forms are made of.
ENDINGS = [("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", ""), ("ing", "e"), ("er", ""),
           ("er", "e"), ("est", ""), ("est", "e"), ("ier", "y"), ("iest", "y"), ("ly", ""), ("ily", "y"), ("y", "e")]
CONTRACTIONS = re.compile(r"(?:i'm|(?:you|we|they|who|what|there)'re|[a-z]+n't|(?:i|you|he|she|it|we|they|who|that|there)'(?:ll|d|ve)|(?:he|she|it|that|what|who|there|here|let|where)'s)$")


def paragraphs_of(page):
    """The prose of an HTML page: no code, no names in the margin."""
    page = re.sub(r"(?s)<(script|style|pre|code|nav|h\d|title)\b.*?</\1>", " ", page)
    for paragraph in re.findall(r"(?s)<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", page):
        yield html.unescape(re.sub(r"<[^>]+>", "", paragraph))


def wordnet(folder):
    for part in ["noun", "verb", "adj", "adv"]:
        for line in (folder / f"usr/share/wordnet/data.{part}").read_text().splitlines():
            if not line.startswith("  "):
                yield line.partition(" | ")[2]


def classics(folder):
    """Old books: Austen's novels out of R's own format, Newton's Opticks and Bierce's Devil's Dictionary."""
    data = (folder / "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb").read_bytes()
    at = 0
    while at < len(data):
        reader = zlib.decompressobj()
        # Each object: its length, then a zlib stream of R's serialisation, where a string is 0x00040009, length, bytes.
        plain = reader.decompress(data[at + 4 :])
        at = len(data) - len(reader.unused_data)
        for found in re.finditer(rb"\x00\x04\x00\x09", plain):
            (length,) = struct.unpack(">i", plain[found.end() : found.end() + 4])
            if 0 < length < 1000:
                yield plain[found.end() + 4 : found.end() + 4 + length].decode("utf-8", "replace")
    yield (folder / "usr/share/go-1.19/src/testdata/Isaac.Newton-Opticks.txt").read_text()
    yield dictd(folder, "devil")


def jargon(folder):
    yield dictd(folder, "jargon")


def dictd(folder, name):
    return gzip.decompress((folder / f"usr/share/dictd/{name}.dict.dz").read_bytes()).decode("utf-8", "replace")


def python_docs(folder):
    pages = folder / "usr/share/doc/python3.11/html"
    for page in sorted(pages.rglob("*.html")):
        if page.name.startswith("genindex") or page.name == "contents.html":
            continue
        yield from paragraphs_of(page.read_text())


def rust_docs(folder):
    for book in RUST_BOOKS:
        for page in sorted((folder / book).rglob("*.html")):
            if page.name not in ("print.html", "all.html"):
                yield from paragraphs_of(page.read_text())


def counted(texts):
    """How often each word stands, in lower case or at the start of a sentence; what is never in lower case is a name."""
    lower, first = collections.Counter(), collections.Counter()
    seen = set()
    for text in texts:
        # What one page repeats of another is counted once.
        if text in seen:
            continue
        seen.add(text)
        for found in WORD.finditer(text):
            word = found[0].replace("’", "'")
            if word.islower():
                lower[word] += 1
            elif word[0].isupper() and word[1:].islower() and SENTENCE_END.search(text[max(0, found.start() - 4) : found.start()]):
                first[word.lower()] += 1
    return collections.Counter({word: count + first[word] for word, count in lower.items()})


def lemmas(folder):
    known, forms = set(), set()
    for part in ["noun", "verb", "adj", "adv"]:
        for line in (folder / f"usr/share/wordnet/data.{part}").read_text().splitlines():
            if not line.startswith("  "):
                fields = line.split(" ")
                known.update(word.partition("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
        for line in (folder / f"usr/share/wordnet/{part}.exc").read_text().splitlines():
            forms.add(line.split(" ")[0])
    return {word for word in known | forms if re.fullmatch(r"[a-z]+", word)}


def is_form(word, known):
    if word in known:
        return True
    for ending, base in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word[: len(word) - len(ending)] + base
            doubled = stem[-1] == stem[-2] and stem[:-1] in known
            if len(stem) >= 3 and (stem in known or (ending in ("ed", "ing", "er", "est") and doubled)):
                return True
    return False


def main():
    folder, rust = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    kinds = [counted(read(folder)) for read in (wordnet, classics, jargon, python_docs)]
    kinds.append(counted(rust_docs(rust)))
    known = lemmas(folder)
    for kind in kinds:
        print(sum(kind.values()), len(kind), file=sys.stderr)

    def share(kind, word):
        return 1e6 * kind[word] / sum_of[id(kind)]

    sum_of = {id(kind): sum(kind.values()) for kind in kinds}
    taken = []
    for word in set().union(*kinds):
        users = sum(kind[word] > 0 for kind in kinds)
        often = sum(kind[word] >= 3 for kind in kinds)
        if len(word) > LONGEST or not re.search("[aeiouy]", word):
            continue
        if "'" in word:
            fits = CONTRACTIONS.match(word) and users >= 2
        elif len(word) <= 3:
            # WordNet's short words are full of symbols of elements and units.
            fits = users >= 3 and often >= 2
        else:
            fits = (is_form(word, known) and (users >= 2 or sum(kind[word] for kind in kinds) >= 2)) or often >= 3
        if fits and word not in RUDE:
            taken.append((-sum(math.log1p(share(kind, word)) for kind in kinds) / len(kinds), word))
    print("\n".join(word for _, word in sorted(taken)))


if __name__ == "__main__":
    main()
