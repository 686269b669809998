import TenureCore

/// A mistake that developers reported: the policy and release list that the developer would have written, and what
/// prevents the mistake.
struct FieldCase: Sendable {
    /// How a developer is kept from making the mistake.
    enum Prevention: Sendable {
        /// The linter reports the mistake with at least this severity.
        case reported(String, LintSeverity)
        /// The developer can't write the mistake: the reader refuses the file with this message.
        case refused(String)
        /// The mistake has no effect under a policy: this customer gets the right decision.
        case decided(Customer, Decision.Outcome)
    }

    enum LintSeverity: Sendable { case error, warning, note }

    /// A customer whom the mistake would have affected.
    struct Customer: Sendable {
        var platform: Platform? = .iOS
        var version: String?
        var bought: String?
        var revoked: String?
        /// A customer without any evidence, as at a first launch offline.
        var isUnknown = false
    }

    /// The number of the case in the list of reported mistakes.
    let number: Int
    let story: String
    var eras = FieldCase.eras("iOS: { build: \"120\", at: 2024-03-05T18:00:00Z }")
    var rest = "buildNumbers: increasing"
    var entitlements = FieldCase.pro
    var releases: String?
    /// The previous policy.
    var old: (eras: String, rest: String)?
    var app = "com.example.lanterns, appleID: 1111111111"
    let prevention: Prevention

    static let pro = """
          pro:
            products: [com.example.lanterns.pro]
            honors: [paid]
        """

    static func eras(_ begins: String, changeover: String = "{ from: -24h, until: +48h }") -> String {
        """
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins: { \(begins) }
            changeover: \(changeover)
        """
    }

    var policy: String { text(app: app, eras: eras, rest: rest) }
    var before: String? {
        old.map { text(app: "com.example.lanterns, appleID: 1111111111", eras: $0.eras, rest: $0.rest) }
    }

    private func text(app: String, eras: String, rest: String) -> String {
        "app: { bundleID: \(app) }\neras:\n\(eras)\n\(rest)\nentitlements:\n\(entitlements)\n"
    }

    private static let header = "platform,version,build,releasedAt,model\n"
    private static let usual =
        header + """
            iOS,1.0,10,2020-01-10,paid
            iOS,1.4,119,2023-09-12,paid
            iOS,2.0,120,2024-03-05T18:00:00Z,free

            """

    static let all: [FieldCase] = [
        FieldCase(
            number: 1, story: "versions compared as strings: 2 came after 13",
            eras: eras("iOS: { build: \"13\", at: 2024-03-05T18:00:00Z }"),
            prevention: .decided(Customer(version: "2"), .granted)),
        FieldCase(
            number: 2, story: "sample code that compares major versions as strings",
            eras: eras("macOS: { version: \"10.0\", at: 2024-03-05T18:00:00Z }"), rest: "",
            prevention: .decided(Customer(platform: .macOS, version: "9.1"), .granted)),
        FieldCase(
            number: 3, story: "the marketing version on iOS",
            eras: eras("iOS: { build: \"2.0\", at: 2024-03-05T18:00:00Z }"), releases: usual,
            prevention: .reported("version-for-build", .error)),
        FieldCase(
            number: 4, story: "a boundary that passes every check in the sandbox, which always reports 1.0",
            eras: eras("iOS: { build: \"1.0\", at: 2024-03-05T18:00:00Z }"),
            rest: "buildNumbers: increasing\ntestEnvironments: owner", releases: usual,
            prevention: .reported("boundary-at-first-build", .error)),
        FieldCase(
            number: 5, story: "a universal app with builds near 1000 on iOS and near 2000 on Apple TV",
            eras: eras("iOS: { build: \"1100\", at: 2024-03-05T18:00:00Z }"),
            releases: header + """
                iOS,1.0,1000,2020-01-10,paid
                iOS,2.0,1100,2024-03-05T18:00:00Z,free
                tvOS,1.0,2000,2020-01-10,paid
                tvOS,2.0,2100,2024-03-05T18:00:00Z,free

                """, prevention: .reported("paid-build-unhonored", .error)),
        FieldCase(
            number: 6, story: "build numbers that began again below the last paid one",
            releases: usual + "iOS,2.1,7,2024-05-02,free\n", prevention: .reported("build-not-above-paid", .error)),
        FieldCase(
            number: 7, story: "every build was 1", eras: eras("iOS: { build: \"1\", at: 2024-03-05T18:00:00Z }"),
            releases: header + "iOS,1.0,1,2020-01-10,paid\niOS,2.0,1,2024-03-05T18:00:00Z,free\n",
            prevention: .reported("boundary-at-first-build", .error)),
        FieldCase(
            number: 8, story: "version or build? On the Mac the build was wrong",
            eras: eras("macOS: { version: \"120\", at: 2024-03-05T18:00:00Z }"), rest: "",
            releases: header + "macOS,1.4,119,2023-09-12,paid\nmacOS,2.0,120,2024-03-05T18:00:00Z,free\n",
            prevention: .reported("build-for-version", .error)),
        FieldCase(
            number: 9, story: "owners of the last paid builds locked out at the switch",
            eras: eras("iOS: { build: \"100\", at: 2024-03-05T18:00:00Z }"), releases: usual,
            prevention: .reported("paid-build-unhonored", .error)),
        FieldCase(
            number: 10, story: "a family member lost the paid features",
            entitlements: pro.replacingOccurrences("[paid]", "[{ era: paid, ownership: purchased }]"),
            prevention: .refused("`ownership` is unknown here")),
        FieldCase(
            number: 11, story: "a library that compares the marketing version on iOS",
            eras: eras("iOS: { version: \"2.0\", at: 2024-03-05T18:00:00Z }"),
            prevention: .refused("[version-for-build]")),
        FieldCase(
            number: 12, story: "a second registration of an entitlement is ignored",
            entitlements: pro + "\n  pro:\n    products: [com.example.lanterns.bundle]",
            prevention: .refused("`pro` is written twice")),
        FieldCase(
            number: 13, story: "a sign-in prompt at every launch", rest: "buildNumbers: increasing\nrefresh: always",
            prevention: .refused("`refresh` is unknown here")),
        FieldCase(
            number: 14, story: "the app transaction throws for unknown reasons, and the app denies",
            rest: "buildNumbers: increasing\nwhileUndetermined: deny",
            prevention: .reported("undetermined-denies", .note)),
        FieldCase(
            number: 15, story: "offline, the current build was taken as the original one",
            prevention: .decided(Customer(isUnknown: true), .undetermined)),
        FieldCase(
            number: 16, story: "the version is empty, and nothing else tells who came when",
            eras: eras("iOS: { build: \"120\" }").replacingOccurrences(
                "    changeover: { from: -24h, until: +48h }", ""),
            prevention: .reported("boundary-without-date", .warning)),
        FieldCase(
            number: 17, story: "paid, then free, then paid again, written as one change",
            releases: usual + "iOS,3.0,150,2025-01-15,paid\n", prevention: .reported("paid-build-unhonored", .error)),
        FieldCase(
            number: 18, story: "price and release don't change at the same time",
            eras: eras("iOS: { build: \"120\", at: 2024-03-05T18:00:00Z }")
                .replacingOccurrences("    changeover: { from: -24h, until: +48h }", ""),
            prevention: .reported("no-changeover", .warning)),
        FieldCase(
            number: 19, story: "a refunded app keeps its rights",
            prevention: .decided(
                Customer(version: "37", bought: "2022-05-01", revoked: "2022-06-01"), .denied)),
        FieldCase(
            number: 20, story: "a change of Apple's signers broke the checks",
            rest: "buildNumbers: increasing\nsigners: [SHA-1]", prevention: .refused("`signers` is unknown here")),
        FieldCase(
            number: 21, story: "a receipt refresh that shows an alert",
            rest: "buildNumbers: increasing\nrefreshReceipt: atLaunch",
            prevention: .refused("`refreshReceipt` is unknown here")),
        FieldCase(
            number: 22, story: "buyers of 2012 turn up years later, with receipts that have no version",
            eras: """
                  - { name: paid, model: paid }
                  - { name: freemium, model: free, begins: { iOS: { build: "120" } } }
                """, prevention: .reported("boundary-without-date", .warning)),
        FieldCase(
            number: 23, story: "an app bundle's date isn't the app's",
            eras: eras("iOS: { at: 2024-03-05T18:00:00Z }"), prevention: .reported("boundary-without-version", .note)),
        FieldCase(
            number: 24, story: "a webhook that answers 200 and stores nothing",
            rest: "buildNumbers: increasing\nwebhook: https://example.com/hook",
            prevention: .refused("`webhook` is unknown here")),
        FieldCase(
            number: 25, story: "slow revocation checks that fail for two reasons alike",
            rest: "buildNumbers: increasing\nrevocationChecks: online",
            prevention: .refused("`revocationChecks` is unknown here")),
        FieldCase(
            number: 26, story: "a tweak that patches the check on the device",
            rest: "buildNumbers: increasing\ntrustDevice: true", prevention: .refused("`trustDevice` is unknown here")),
        FieldCase(
            number: 27, story: "an owner sees a trial of what they paid for",
            entitlements: """
                  pro:
                    products: [com.example.lanterns.pro]
                    trial: { sessions: 300 }
                """, prevention: .reported("paid-era-unhonored", .error)),
        FieldCase(
            number: 28, story: "a new app record charged its customers twice",
            old: (FieldCase.eras("iOS: { build: \"120\", at: 2024-03-05T18:00:00Z }"), "buildNumbers: increasing"),
            app: "com.example.lanterns2, appleID: 2222222222", prevention: .reported("app-changed", .error)),
        FieldCase(
            number: 29, story: "an unverified payload that chooses its own root",
            rest: "buildNumbers: increasing\nanchors: [Xcode]", prevention: .refused("`anchors` is unknown here")),
        FieldCase(
            number: 30, story: "notifications decoded without a look at their signature",
            rest: "buildNumbers: increasing\nverifyNotifications: false",
            prevention: .refused("`verifyNotifications` is unknown here")),
    ]
}

extension String {
    fileprivate func replacingOccurrences(_ text: String, _ other: String) -> String {
        split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
    }
}
