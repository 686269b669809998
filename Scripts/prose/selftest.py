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

    def test_old_names_with_endings(self):
        names = "adminDesks ledgers worlds couriers Recollections honoured behaviours Notice NoticeBoard certificateKey policyKey"
        self.claims("Sources/X/x.swift", [(f"\nlet {name} = 1", 2) for name in names.split()] + [
            ('let a = "SELECT id FROM visits"', 1), ('let a = "FROM record"', 1), ('let a = "\\(adminDesk.name)"', 1),
        ], ["let notice = record + acting + PQsetNoticeReceiver", 'let a = "SELECT id FROM customers"', "policySigningKey"])

    def test_keys(self):
        wrong = ["honours:", "inDoubt: favourCustomer", "adminDesk: 1", "a: { honours: 1 }", "- settlements"]
        self.claims("a.yaml", [(f"a:\n  {text}", 2) for text in wrong], ["honors:\n  inDoubt: favorCustomer"])
        self.claims("a.json", [('{\n"honours": 1}', 2), ('{"a": "favourCustomer"}', 1)], ['{"honors": "active"}'])

    def test_commands_and_code_spans(self):
        wrong = ["tenure appstore", "tenure record backup", "tenure key create", "settlements", "honours", "GET /v1/keys"]
        for path, around in [
            ("Docs/x.md", "`{}`"), ("Docs/x.md", "Use {}."), ("Docs/x.md", "```sh\n{}\n```"),
            ("Sources/X/x.swift", "// `{}`"), ("Sources/X/x.swift", 'let a = "use {} now"'),
        ]:
            self.claims(path, [(around.format(text), 2 if "\n" in around else 1) for text in wrong], [
                around.format(text) for text in ["tenure app-store", "tenure keys", "nextSteps", "GET /v1/admin/keys"]])

    def test_literals(self):
        self.claims("Sources/X/x.swift", [
            ('let a = "\\(name ?? "nobody knows")"', 1), ('let a = "\\(f(g(h(i(1)))) ?? "\\(x) nobody")"', 1),
            ('let a = "{\\"a\\": \\"nobody\\"}"', 1), ('let a = #"{"a": "nobody"}"#', 1),
            ('let a = """\n  a: 1\n  b: nobody\n  c: 2\n  """', 3), ('let a = """\n  \\(f(\n  1))\n  nobody\n  """', 4),
        ], ['let a = "\\(nobody)"'])

    def test_phrases_across_lines(self):
        self.claims("Docs/x.md", [("Something is\ntold.", 1)], [])
        self.claims("Sources/X/x.swift", [("/// ```\n/// a()\n/// ```\n/// Nobody.", 4), ("/// ```\n/// honours()\n/// ```", 2)], [])

    def test_links(self):
        os.makedirs(os.path.join(self.folder.name, "Sources/X/X.docc"))
        self.write("Sources/X/X.docc/Page.md", "# Page\n")
        self.write("Sources/X/Here.swift", "")
        self.claims("Docs/x.md", [
            ("[x][y]\n\n[y]: nope.md", 3), ("[x][y]", 1), ("[x][]", 1), ('<img src="nope.png">', 1), ("<doc:Nope>", 1),
            ("Run `Scripts/nope`.", 1), ("(Scripts/nope)", 1), ("In `Sources/X/Nope.swift`.", 1), ("`Sources/…/Nope.swift`", 1),
            ("[y]: page.md#nope", 1), ("```sh\nScripts/nope\n```", 2), ("Sources/.../Nope.swift", 1),
        ], ["[x][y]\n\n[y]: page.md#two-words", '<img src="page.md">', "`Sources/…/Here.swift`", "Sources/X/Here.swift", "`a[x][y]`",
            "Sources/NAME/Here.swift"])
        self.claims("Sources/X/x.swift", [
            ("// [x](nope.md)", 1), ("// Sources/X/Nope.swift", 1), ("/// `Scripts/nope`", 1), ("/// <doc:Nope>", 1),
        ], ["// [x](Here.swift) [y](Docs/page.md)", "/// <doc:Page>", 'write("Sources/X/Nope.swift")'])

    def test_other_files(self):
        self.claims("a.json", [('{\n"a": "It has a file of its own."}', 2)], ['{"a": "nobody"}'])
        self.claims("a.xcprivacy", [("<a>\n<!-- of its own -->\n<b>c</b></a>", 2), ("<a>\n  of its own\n</a>", 2)], ["<a>b</a>"])
        self.claims("a.svg", [("<text>Nobody</text>", 1)], ["<style>a{}</style>"])
        self.claims("a.h", [("#define a 1\n// nobody", 2)], ["#include <a.h>"])
        self.claims("Tests/a/expected.txt", [("a\n\nnobody", 3)], ["a"])
        self.claims("a.py", [('print("nobody knows")', 1), ("honours = 1", 1)], ["nobody = 1"])
        self.claims("Scripts/a", [('echo "nobody knows"', 1), ("tenure appstore run", 1)], ["nobody=1"])

    def test_british_spelling(self):
        wrong = ("honour favourite behaviours colours organise analysed synchronisation initialising cancelled travelled"
                 " labelled spelt afterwards towards whilst licence catalogue grey centre programme judgement").split()
        right = ("promise advertising otherwise precise raised noise four hour analyses canceled spelled license center"
                 " cancellation filled installed gray supervised").split()
        for path, around in [
            ("Docs/x.md", "The {} is."), ("Sources/X/x.swift", "let {} = 1"), ("Sources/X/x.swift", "case {}"),
            ("Sources/X/x.swift", "// The {}."), ("Sources/X/x.swift", 'let a = "{}"'), ("a.yaml", "{}: 1"), ("a.yaml", "a: {}"),
        ]:
            self.claims(path, [(around.format(word), 1) for word in wrong], [around.format(word) for word in right])
        self.claims("Sources/X/x.swift", [("let timesSpelt = 1", 1)], ["Task.isCancelled", "throw CancellationError()"])

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
        ], ["let active = actor", 'let a = "an act"'])

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
        self.write("exceptions", "# reasons\nDocs/x.md: nobody: 2: a quotation\nDocs/x.md: whose: 1: unused\nDocs/x.md: desk: 1\n")
        exceptions = Exceptions.read(path)
        problem = self.checker.problems("Docs/x.md", "Nobody")[0]
        self.assertTrue(exceptions.covers(problem))
        self.assertFalse(exceptions.covers(self.checker.problems("Docs/y.md", "Nobody")[0]))
        self.assertEqual([text.split(":")[1] for text in exceptions.mistakes(["Docs/x.md"])], ["4", "2", "3"])
        self.assertTrue(exceptions.covers(problem))
        self.assertFalse(exceptions.covers(problem))
        self.assertEqual([text.split(":")[1] for text in exceptions.mistakes(["Docs/x.md"])], ["4", "3"])
        self.write("exceptions", "Docs/x.md: nobody: 1: a quotation\n" * 21)
        self.assertEqual(len(Exceptions.read(path).broken), 1)
        self.write("exceptions", "Docs/x.md: nobody: a quotation\nDocs/x.md: nobody: 0: a quotation\n")
        self.assertEqual(len(Exceptions.read(path).broken), 2)


def run():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Checks)
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
