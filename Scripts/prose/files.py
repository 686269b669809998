"""Splits a file into prose (with the line on which it begins), names and SQL."""

import re
from dataclasses import dataclass


def interpolation(string, depth):
    """`\\(…)` with this many levels of parentheses."""
    level = rf"[^()\"]|{string}"
    inside = rf"(?:{level})*"
    for _ in range(depth):
        inside = rf"(?:{level}|\({inside}\))*"
    return rf"\\#*\({inside}\)"


INNER = interpolation(r'"(?:\\.|[^"\\\n])*"', 2)
INTERPOLATION = interpolation(rf'"(?:{INNER}|\\.|[^"\\\n])*"', 4)
SWIFT = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)"
    r"|(?P<raw>(?P<hashes>#+)\"(?P<three>\"\")?.*?\"(?P=hashes))"
    rf"|(?P<long>\"\"\"(?:{INTERPOLATION}|\\.|[^\\])*?\"\"\")"
    rf"|(?P<string>\"(?:{INTERPOLATION}|\\.|[^\"\\\n])*\")"
    r"|(?P<name>`[^`\n]*`)", re.DOTALL)
HOLE = re.compile(INTERPOLATION)
SQL = re.compile(
    r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX|UNIQUE)|ALTER TABLE|WHERE|VALUES|FROM [a-z]\w*)\b")
YAML = re.compile(r"\s*(?:- )?[\w.\"]+:(?: |$)")
CODE = re.compile(r"``.+?``|`[^`]*`")
COMMENT = re.compile(r"(?:^|\s)#+ (.*)")
STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"")
QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'")
PYTHON = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|[rbfuRBFU]*(?P<string>\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.DOTALL)
ENTRY = re.compile(r"\s*(?:[-*+]|\d+\.)\s+|\s*[#>|]+\s*")


@dataclass
class Text:
    """One paragraph, comment, cell or string literal."""
    line: int
    text: str
    kind: str  # prose, message, data (texts without the length of sentences), sql, code, span (code in prose, or a key)


def without_code(text):
    return CODE.sub("CODE", text)


def swift(source, line=1):
    """Comments are joined line by line; a blank comment line or a list item begins a new text."""
    texts, code, end, paragraph, last, fenced = [], [], 0, None, -2, False
    for match in SWIFT.finditer(source):
        between = source[end:match.start()]
        code.append((line, between))
        line += between.count("\n")
        kind, text = match.lastgroup, match.group()
        if kind == "three" or kind == "hashes":
            kind = "raw"
        if kind == "comment":
            body = text.lstrip("/").strip()
            follows = line == last + 1 and not between.strip()
            fenced = fenced and follows
            if body.startswith("```"):
                fenced, paragraph = not fenced, None
            elif fenced:
                texts.append(Text(line, body, "span"))
            elif paragraph is None or not follows or not body or ENTRY.match(body):
                paragraph = Text(line, body, "prose")
                texts.append(paragraph)
            else:
                paragraph.text += "\n" + body
            last = line
        else:
            paragraph = None
            if kind == "block":
                texts.append(Text(line, text.strip("/* \n"), "prose"))
            elif kind == "name":
                texts.append(Text(line, text[1:-1], "prose" if " " in text else "code"))
            else:
                texts += literal(line, text)
        line += text.count("\n")
        end = match.end()
    code.append((line, source[end:]))
    return texts + [Text(line, part, "code") for line, part in code]


def literal(line, text):
    """The paragraphs of a string literal, and what its interpolations have."""
    texts = []
    for hole in HOLE.finditer(text):
        start = line + text.count("\n", 0, hole.start())
        texts += swift(hole.group().lstrip("\\#")[1:-1], start)
    body = HOLE.sub(lambda hole: "X" + "\n" * hole.group().count("\n"), text.strip("#").strip('"'))
    rows = [row for row in body.split("\n") if row.strip()]
    if SQL.search(body):
        kind = "sql"
        for comment in re.finditer(r"--\s(.*)", body):
            texts.append(Text(line + body.count("\n", 0, comment.start()), comment.group(1), "data"))
    elif len(rows) > 2 and 2 * sum(1 for row in rows if YAML.match(row)) > len(rows) \
            or body.count("{") > 9 and body.count(";") > 9 or body.lstrip().startswith(("{", "[{")):
        kind = "data"  # YAML, a style sheet or JSON
    else:
        kind = "message"
    return texts + [Text(line + offset, part, kind) for offset, part in chunks(body)]


def chunks(body):
    """The paragraphs of a long string literal."""
    offset = 0
    for part in re.split(r"\n\s*\n", body):
        yield offset, part.replace("\\\n", "\n")
        offset += part.count("\n") + 2


def markdown(source):
    """Paragraphs, list items, headings, table cells, and the lines of fenced code."""
    texts, paragraph, fence = [], None, None
    for line, text in enumerate(source.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", text)
        if fence is None and mark:
            fence, paragraph = mark.group(1), None
            continue
        if fence is not None:
            if mark and mark.group(1).startswith(fence):
                fence = None
            else:
                texts.append(Text(line, text, "span"))
            continue
        if not text.strip():
            paragraph = None
        elif text.lstrip().startswith("|"):
            paragraph = None
            cells = re.split(r"(?<!\\)\|", CODE.sub(lambda code: code.group().replace("|", " "), text))
            texts += [Text(line, cell.strip(), "prose") for cell in cells if cell.strip(" -:")]
        elif paragraph is None or ENTRY.match(text):
            mark = ENTRY.match(text)
            paragraph = Text(line, text[mark.end():] if mark else text.strip(), "prose")
            texts.append(paragraph)
        else:
            paragraph.text += "\n" + text.strip()
    return texts


def hashed(source, comments_only=False):
    """Python, shell, make and YAML: comments. In shell and make also strings, and the rest as code."""
    texts, paragraph, last = [], None, -2
    for line, text in enumerate(source.split("\n"), 1):
        match = COMMENT.search(text)
        if match and not text.startswith("#!"):
            if paragraph is not None and line == last + 1 and text.lstrip().startswith("#"):
                paragraph.text += "\n" + match.group(1)
            else:
                paragraph = Text(line, match.group(1), "prose")
                texts.append(paragraph)
            last = line
        if not comments_only:
            text = COMMENT.sub("", text)
            texts += [Text(line, string.strip("\"'"), "data") for string in QUOTED.findall(text)]
            texts.append(Text(line, QUOTED.sub("", text), "span"))
    return texts


def yaml(source):
    """Comments, block scalars, values of two words or more, and as code keys and other values."""
    texts, block, indent = hashed(source, comments_only=True), None, 0
    for line, text in enumerate(source.split("\n"), 1):
        depth = len(text) - len(text.lstrip())
        if block is not None and text.strip() and depth > indent:
            block.text += "\n" + text.strip()
            continue
        if block is not None and not text.strip():
            block = Text(line, "", block.kind)
            texts.append(block)
            continue
        block = None
        text = COMMENT.sub("", text)
        match = re.search(r":\s+([>|][+-]?)?\s*(.*)$", text)
        if match and match.group(1):
            block, indent = Text(line, "", "prose"), depth
            texts.append(block)
            text = text[:match.start()]
        elif match and " " in match.group(2) and not match.group(2).startswith(("[", "{")):
            texts.append(Text(line, match.group(2).strip("'\"{}[]"), "prose"))
            text = text[:match.start()]
        texts += [Text(line, string.strip("\"'"), "data") for string in QUOTED.findall(text)]
        texts.append(Text(line, QUOTED.sub("", text), "span"))
    return texts


def json(source):
    """Strings with spaces, and keys and other strings."""
    texts = []
    for line, text in enumerate(source.split("\n"), 1):
        for string in STRING.findall(text):
            string = re.sub(r"\\[nt]", "  ", string[1:-1])
            texts.append(Text(line, string, "prose" if " " in string else "span"))
    return texts


def xml(source):
    """What is between tags, and comments."""
    texts = []
    for match in re.finditer(r"<!--(.*?)-->|>([^<]+)(?=<)|<style.*?</style>", source, re.DOTALL):
        text = match.group(1) or match.group(2) or ""
        if text.strip():
            texts.append(Text(source.count("\n", 0, match.end() - len(text.lstrip())) + 1, text.strip(), "prose"))
    return texts


def plain(source):
    """Expected output and tables of values."""
    return [Text(1 + offset, part, "data") for offset, part in chunks(source)]


def python(source):
    """Comments, strings and names."""
    texts = hashed(source, comments_only=True)
    code, end = [], 0
    for match in PYTHON.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        code.append((end, source[end:match.start()]))
        end = match.end()
        if match.group("string"):
            body = match.group("string").strip("\"'")
            kind = "sql" if SQL.search(body) else "prose" if match.group("string").startswith('"""') else "data"
            texts += [Text(line + offset, part, kind) for offset, part in chunks(body)]
    code.append((end, source[end:]))
    return texts + [Text(source.count("\n", 0, start) + 1, part, "code") for start, part in code]


READERS = [
    ((".swift", ".h", ".modulemap"), swift), ((".md",), markdown), ((".yaml", ".yml"), yaml), ((".json",), json),
    ((".xcprivacy", ".svg"), xml), ((".txt", ".csv"), plain), ((".py",), python),
]


def texts(path, source):
    if source.startswith("#!/usr/bin/env python3"):
        return python(source)
    return next((reader for suffixes, reader in READERS if path.endswith(suffixes)), hashed)(source)
