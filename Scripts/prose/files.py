"""Splits a file into prose (with the line on which it begins), names and SQL."""

import re
from dataclasses import dataclass

INTERPOLATION = r"\\#*\((?:[^()\"]|\"(?:\\.|[^\"\\\n])*\"|\((?:[^()\"]|\"(?:\\.|[^\"\\\n])*\"|\((?:[^()])*\))*\))*\)"
SWIFT = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)"
    r"|(?P<raw>(?P<hashes>#+)\"(?P<three>\"\")?.*?\"(?P=hashes))"
    r"|(?P<long>\"\"\"(?:\\.|[^\\])*?\"\"\")"
    rf"|(?P<string>\"(?:{INTERPOLATION}|\\.|[^\"\\\n])*\")"
    r"|(?P<name>`[^`\n]*`)", re.DOTALL)
HOLE = re.compile(INTERPOLATION)
SQL = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX|UNIQUE)|ALTER TABLE|WHERE|VALUES)\b")
YAML = re.compile(r"\s*(?:- )?[\w.\"]+:(?: |$)")
CODE = re.compile(r"``.+?``|`[^`]*`")
ENTRY = re.compile(r"\s*(?:[-*+]|\d+\.)\s+|\s*[#>|]+\s*")


@dataclass
class Text:
    """One paragraph, comment, cell or string literal."""
    line: int
    text: str
    kind: str  # prose, name, sql, code


def without_code(text):
    return CODE.sub("CODE", text)


def swift(source):
    """Comments are joined line by line; a blank comment line or a list item begins a new text."""
    texts, code, end, paragraph, last = [], [], 0, None, -2
    line = 1
    for match in SWIFT.finditer(source):
        between = source[end:match.start()]
        code.append((line, between))
        line += between.count("\n")
        kind, text = match.lastgroup, match.group()
        if kind == "three" or kind == "hashes":
            kind = "raw"
        if kind == "comment":
            body = text.lstrip("/")
            fresh = paragraph is None or line != last + 1 or between.strip() or not body.strip() or ENTRY.match(body)
            if fresh:
                paragraph = Text(line, body.strip(), "prose")
                texts.append(paragraph)
            else:
                paragraph.text += "\n" + body.strip()
            last = line
        else:
            paragraph = None
            if kind == "block":
                texts.append(Text(line, text.strip("/* \n"), "prose"))
            elif kind == "name":
                texts.append(Text(line, text[1:-1], "prose" if " " in text else "code"))
            else:
                body = HOLE.sub("X", text.strip("#").strip('"'))
                rows = [row for row in body.split("\n") if row.strip()]
                if len(rows) > 2 and 2 * sum(1 for row in rows if YAML.match(row)) > len(rows) or body.count("{") > 9 and body.count(";") > 9:
                    rows = []  # YAML or a style sheet
                if body.strip().startswith(('{"', '[{"', '{\\"')):
                    rows = []  # JSON
                for offset, part in chunks(body) if rows else ():
                    texts.append(Text(line + offset, part, "sql" if SQL.search(body) else "message"))
        line += text.count("\n")
        end = match.end()
    code.append((line, source[end:]))
    texts += [Text(line, part, "code") for line, part in code]
    return without_snippets(texts)


def chunks(body):
    """The paragraphs of a long string literal."""
    offset = 0
    for part in re.split(r"\n\s*\n", body):
        yield offset, part.replace("\\\n", "\n")
        offset += part.count("\n") + 2


def without_snippets(texts):
    """Comments between two fences are code."""
    inside, kept = False, []
    for text in texts:
        if text.kind == "prose" and text.text.startswith("```"):
            inside = not inside if text.text.count("```") % 2 else inside
            continue
        if not (inside and text.kind == "prose"):
            kept.append(text)
    return kept


def markdown(source):
    """Paragraphs, list items, headings and table cells, without fenced code."""
    texts, paragraph, fence = [], None, None
    for line, text in enumerate(source.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", text)
        if fence is None and mark:
            fence, paragraph = mark.group(1), None
            continue
        if fence is not None:
            if mark and mark.group(1).startswith(fence):
                fence = None
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


def hashed(source):
    """YAML, Python, shell and make: comments; in YAML also the values that are sentences."""
    texts, paragraph, last = [], None, -2
    for line, text in enumerate(source.split("\n"), 1):
        match = re.search(r"(?:^|\s)#+ (.*)", text)
        if match and not text.startswith("#!"):
            if paragraph is not None and line == last + 1 and text.lstrip().startswith("#"):
                paragraph.text += "\n" + match.group(1)
            else:
                paragraph = Text(line, match.group(1), "prose")
                texts.append(paragraph)
            last = line
    return texts


def yaml(source):
    texts, block, indent = hashed(source), None, 0
    for line, text in enumerate(source.split("\n"), 1):
        text = re.sub(r"(?:^|\s)# .*", "", text)
        depth = len(text) - len(text.lstrip())
        if block is not None and text.strip() and depth > indent:
            block.text += "\n" + text.strip()
            continue
        if block is not None and not text.strip():
            block = Text(line, "", "prose")
            texts.append(block)
            continue
        block = None
        match = re.search(r":\s+([>|][+-]?)?\s*(.*)$", text)
        if match and match.group(1):
            block, indent = Text(line, "", "prose"), depth
            texts.append(block)
        elif match and match.group(2).count(" ") > 2 and not match.group(2).startswith("[{"):
            texts.append(Text(line, match.group(2).strip("'\"{}[]"), "prose"))
    return texts


def python(source):
    texts = hashed(source)
    for match in re.finditer(r'"""(.*?)"""', source, re.DOTALL):
        line = source.count("\n", 0, match.start()) + 1
        texts += [Text(line + offset, part, "prose") for offset, part in chunks(match.group(1))]
    return texts


def texts(path, source):
    name = path.rsplit("/", 1)[-1]
    if name.endswith(".swift"):
        return swift(source)
    if name.endswith(".md"):
        return markdown(source)
    if name.endswith((".yaml", ".yml")):
        return yaml(source)
    if name.endswith(".py") or source.startswith("#!/usr/bin/env python3"):
        return python(source)
    return hashed(source)
