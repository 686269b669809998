import TenureAppStore
import TenureCore

/// Finds mistakes in the configuration.
extension ServiceConfiguration {
    /// The mistakes that can be found without reading a file, the most important one first.
    public var mistakes: [ServiceError] {
        var mistakes: [ServiceError] = []
        if anchors.isEmpty { mistakes.append(.noEnvironment) }
        if !(0...65_535).contains(port) { mistakes.append(.invalidPort(port)) }
        if anchors[.production] != nil, app.appAppleID == nil { mistakes.append(.productionNeedsAppleID) }
        if let mistake = mistakeOfWebhooks { mistakes.append(mistake) }
        if let mistake = appStore?.mistake { mistakes.append(mistake) }
        mistakes += content?.mistakes ?? []
        if ConnectionString.matches(databasePath) {
            mistakes.append(.database(ConnectionString.objection))
        } else if databaseFile == nil, !["postgres://", "postgresql://"].contains(where: databasePath.hasPrefix) {
            // The URL may contain a password.
            let detail = "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file"
            mistakes.append(.database(detail))
        }
        if databaseFile == nil, keysFolder == nil { mistakes.append(.noKeysFolder) }
        if let mistake = mistakeOfClock { mistakes.append(mistake) }
        if let adminKey, KeySecret(adminKey) == nil { mistakes.append(.invalidAdminKey) }
        // The other mistakes matter only if other machines can reach the service, directly or through a proxy.
        if isLoopback, proxies.isEmpty { return mistakes }
        if !testAuthorities.isEmpty, !allowsTestAnchorsBeyondLoopback {
            mistakes.append(.testAnchorsBeyondLoopback(host: host))
        }
        if adminKey == nil { mistakes.append(.noAdminKey(host: host)) }
        if proxies.isEmpty, certificateFiles == nil { mistakes.append(.noTransportSecurity(host: host)) }
        return mistakes
    }

    /// The first mistake in the webhooks; nil if there is no mistake.
    private var mistakeOfWebhooks: ServiceError? {
        for webhook in webhooks {
            if let mistake = webhook.mistake { return mistake }
            guard webhooks.filter({ $0.name == webhook.name }).count == 1 else {
                return .webhook(name: webhook.name, detail: "two webhooks have this name; use different names")
            }
        }
        let ranges = [
            ("expiringDays", webhookSettings.expiringDays, 0...365),
            ("retentionDays", webhookSettings.retentionDays, 4...3650),
            ("concurrency", webhookSettings.concurrency, 1...100),
        ]
        for (name, value, range) in ranges where !range.contains(value) {
            return .failed(
                "`webhookSettings.\(name)` must be from \(range.lowerBound) to \(range.upperBound); found \(value)")
        }
        return nil
    }

    /// The mistake if a clock is set where it isn't allowed. `allowsTestAnchorsBeyondLoopback` makes no exception,
    /// because a stopped clock would make every token permanent.
    private var mistakeOfClock: ServiceError? {
        guard clock != nil else { return nil }
        guard isLoopback, proxies.isEmpty else {
            return .clock(
                "the clock is only for tests on this machine; set `host` to 127.0.0.1, and remove `behindProxy`")
        }
        guard anchors.values.allSatisfy({ !Self.testAuthorities(in: $0).isEmpty }) else {
            return .clock(
                "the clock is only for tests; set `trust` to the test authority that signs the tests' artifacts")
        }
        return nil
    }

    /// The names of the trusted authorities other than Apple.
    package var testAuthorities: [String] { Set(anchors.values.flatMap(Self.testAuthorities)).sorted() }

    /// The names of the authorities other than Apple in these anchors.
    private static func testAuthorities(in anchors: TrustAnchors) -> [String] {
        anchors.summaries.filter { !AppleAnchors.contains(fingerprint: $0.fingerprint) }.map(\.subject)
    }
}
