import Testing

@testable import TenureCore

@Suite struct TitleTests {
    private let title: Title = [
        "en": "Everything", "de": "Alles", "de-CH": "Alles (CH)", "pt-BR": "Tudo", "zh-Hant": "全部", "zh-Hans": "全部版",
        "no": "Alt",
    ]

    @Test(arguments: [
        (["de"], "Alles"), (["de-AT"], "Alles"), (["de-CH"], "Alles (CH)"), (["DE_ch"], "Alles (CH)"),
        (["pt-PT"], "Tudo"), (["zh-TW"], "全部"), (["zh-Hant-HK"], "全部"), (["zh-CN"], "全部版"), (["zh"], "全部版"),
        (["nb-NO"], "Alt"), (["fr", "de"], "Alles"), (["fr"], "Everything"), ([], "Everything"), ([""], "Everything"),
        (["d"], "Everything"), (["den"], "Everything"),
    ])
    func `a title is in the first of the reader's languages that it has, otherwise in its first language`(
        _ languages: [String], _ text: String
    ) {
        #expect(title.text(for: languages) == text)
    }

    @Test func `a title's default translation is its first translation`() {
        let title: Title = ["de": "Alles", "en": "Everything"]
        #expect(title.text(for: ["fr"]) == "Alles")
    }

    @Test(arguments: [
        (["zh-TW"], "全部"), (["zh-Hant"], "全部"), (["zh-HK"], "全部"), (["zh"], "全部版"), (["zh-CN"], "全部版"),
        (["zh-Hans-TW"], "全部版"),
    ])
    func `a title without a script in its language tag isn't shown to a reader of another script`(
        _ languages: [String], _ text: String
    ) {
        let title: Title = ["en": "Everything", "zh": "全部版", "zh-Hant": "全部"]
        #expect(title.text(for: languages) == text)
    }

    @Test func `a title in another script of the reader's language is preferred to another language`() {
        let title: Title = ["en": "Everything", "zh-Hans": "全部版"]
        #expect(title.text(for: ["zh-TW"]) == "全部版")
    }

    @Test(
        arguments: [
            (["en": "Everything"], nil),
            (["zh-Hans": "全部", "ar": "كل شيء", "de-AT": "Alles"], nil),
            ([:], "the title has no text; write one, such as `{ en: Everything }`"),
            (["english": "Everything"], "`english` isn't a language tag; write one such as `en` or `pt-BR`"),
            (["de_AT": "Alles"], "`de_AT` isn't a language tag; write `de-AT`"),
            (["de-": "Alles"], "`de-` isn't a language tag; write one such as `en` or `pt-BR`"),
            (["": "Alles"], "`` isn't a language tag; write one such as `en` or `pt-BR`"),
            (["en": "A", "EN": "B"], "the title has two texts for `EN`; keep one"),
            (["en": ""], "the title is empty; write a name for customers"),
            (["en": " \u{A0}"], "the title is empty; write a name for customers"),
            (["en": "Every\u{202E}thing"], "the title has the invisible character U+202E; remove it"),
            (["en": "Every\nthing"], "the title has the invisible character U+000A; remove it"),
            (["en": "\u{0}"], "the title has the invisible character U+0000; remove it"),
            (["en": "Everything "], "the title has spaces at an end, or two in a row; remove them"),
            (["en": "Every  thing"], "the title has spaces at an end, or two in a row; remove them"),
            (
                ["en": "1234567890123456789012345678901234567890123456789012345678901"],
                "the title has 61 characters; shorten it to at most 60"
            ),
        ] as [(Title, String?)])
    func `an invalid title or language tag is a mistake with advice`(_ title: Title, _ mistake: String?) {
        #expect(title.mistakes(at: ["title"]).map(\.message) == [mistake].compactMap(\.self))
    }

    @Test func `the error of an invalid title names its place in the policy`() {
        let error = #expect(throws: InvalidPolicy.self) {
            try Policy(
                app: Policy.App(bundleID: "com.example.calculator"), eras: [Era(name: "paid", model: .paid)],
                entitlements: [
                    Entitlement(
                        name: "everything", title: ["en": ""],
                        products: [.init(id: "a"), .init(id: "b", title: ["xx-": "B"])])
                ])
        }
        #expect(
            error?.mistakes.map(\.path) == [
                ["entitlements", "everything", "title", "en"],
                ["entitlements", "everything", "products", 1, "title", "xx-"],
            ])
    }
}
