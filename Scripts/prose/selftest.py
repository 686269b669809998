"""Tests of `prose-check`: each claim has a text with a problem, and its neighbor without one."""

import os
import tempfile
import unittest

from prose.check import Checker
from prose.exceptions import Exceptions

RULES = "## A. Version\n\n- **A1.** On macOS.\n"


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        root = self.folder.name
        os.makedirs(os.path.join(root, "Docs/adr"))
        self.write("Docs/decision-rules.md", RULES)
        self.write("Docs/adr/0027-nonces.md", "# Nonces\n")
        self.write("Docs/page.md", "# A page\n\n## Two words\n")
        self.checker = Checker(root)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        with open(os.path.join(self.folder.name, path), "w", encoding="utf-8") as file:
            file.write(text)

    def lines(self, path, source):
        return [problem.line for problem in self.checker.problems(path, source)]

    def claims(self, path, wrong, right):
        for source, line in wrong:
            self.assertEqual(self.lines(path, source), [line], source)
        for source in right:
            self.assertEqual([str(problem) for problem in self.checker.problems(path, source)], [], source)

    def test_phrases_in_markdown(self):
        self.claims("Docs/x.md", [
            ("Text.\n\nNobody knows.", 3), ("A\nsign whose\nend.", 2), ("| a | it is none |", 1), ("- kept for good", 1),
        ], ["`whose` is code.", "```\nnobody\n```", "[word](https://whose.example)", "for goods, outstanding, standard", "https://x.y/desk"])

    def test_phrases_in_swift(self):
        self.claims("Sources/X/x.swift", [
            ("let a = 1\n// Nobody.", 2), ('let a = "nobody"', 1), ('let a = #"nobody "quoted""#', 1),
            ('let a = """\n  one\n\n  nobody\n  """', 4), ("@Test func `nobody may`() {}", 1),
            ('let a = "\\(f("x")) is told" // fine', 1), ("/// One.\n/// Two, nobody.", 2), ("// The ledger.", 1),
            ("// Reads the record.", 1),
        ], ["let nobody = 1", "// Records an ID.", "/// ```swift\n/// nobody()\n/// ```", "/// `nobody`"])

    def test_names(self):
        self.claims("Sources/X/x.swift", [
            ("\nlet adminDesk = 1", 2), ('let a = "SELECT act FROM artifacts"', 1), ("struct Patience {}", 1),
            ("let announcer = 1", 1),
        ], ["let active = actor", 'let a = "an act"', "// `Desk`"])

    def test_spelling(self):
        self.claims("Docs/x.md", [("The colour.", 1), ("It was cancelled.", 1)], ["`userCancelled`", "The color."])

    def test_yaml_python_and_shell(self):
        self.claims("a.yaml", [
            ("a: b\n# Nobody.", 2), ("a: >\n  One\n  nobody here\n  speaks.\n", 3), ("a: a text that nobody reads", 1),
        ], ["a: nobody", "nobody: a"])
        self.claims("a.py", [("x = 1  # nobody", 1), ('"""One.\n\nNobody."""', 3)], ["nobody = 1"])
        self.claims("Makefile", [("# nobody", 1)], ["nobody:"])

    def test_long_lines_and_sentences(self):
        self.claims("Docs/x.md", [("x" * 121, 1), ("word " * 20 + "\n" + "word " * 16 + "end.", 1)], [
            "x" * 120, "| " + "x" * 121 + " |", "```\n" + "x" * 121 + "\n```", ("Word " * 20 + "end.\n") * 2,
        ])

    def test_data_is_no_sentence(self):
        message = "x.yaml:1:2: " + "word " * 20
        self.claims("Sources/X/x.swift", [(f'let a = """\n  {"word " * 40}\n  """', 1)], [
            f'let a = """\n  {message}\n  {message}\n  """', f'let a = """\n  {{"a": "{"word " * 40}"}}\n  """'])
        self.claims("a.yaml", [("a: " + "word " * 40, 1)], ["a: [{ b: " + "word, " * 40 + "}]"])

    def test_links_rules_and_records(self):
        self.claims("Docs/x.md", [
            ("[a](none.md)", 1), ("[a](page.md#none)", 1), ("[a](#none)", 1), ("ADR 28 and ADR 27.", 1), ("Rule A2.", 1),
            ("rules A1 and A3", 1), ("See Docs/none.md.", 1),
        ], ["[a](page.md#two-words)", "[a](adr/0027-nonces.md)", "ADR 27", "Rule A1, rules A and A1", "[a](https://x.y)"])
        self.claims("Sources/X/x.swift", [("// Rule A9", 1), ('"see Docs/page.md#three"', 1)], ["// Rule A1"])

    def test_exceptions(self):
        path = os.path.join(self.folder.name, "exceptions")
        self.write("exceptions", "# reasons\nDocs/x.md: nobody: a quotation\nDocs/x.md: whose: unused\nDocs/x.md: desk\n")
        exceptions = Exceptions.read(path)
        problem = self.checker.problems("Docs/x.md", "Nobody")[0]
        self.assertTrue(exceptions.covers(problem))
        self.assertFalse(exceptions.covers(self.checker.problems("Docs/y.md", "Nobody")[0]))
        self.assertEqual([text.split(":")[1] for text in exceptions.mistakes(["Docs/x.md"])], ["4", "3"])
        self.write("exceptions", "Docs/x.md: nobody: a quotation\n" * 21)
        self.assertEqual(len(Exceptions.read(path).broken), 1)


def run():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Checks)
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
