import CommandRunner
import Foundation
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the configuration of webhooks` {
    private func mistake(_ change: (inout Webhook) -> Void) throws -> String? {
        var webhook = Webhook(name: "app", url: "https://example.com/hooks", secrets: [WebhookTestBed.secret])
        change(&webhook)
        var configuration = try Calculator.configuration("/tmp")
        configuration.webhooks = [webhook]
        return configuration.mistakes.first?.description
    }

    @Test func `a valid configuration of webhooks is accepted`() throws {
        #expect(try mistake { _ in } == nil)
        #expect(try mistake { $0.secrets.append("another secret of ours") } == nil)
        #expect(try mistake { $0.events = ["customer.merged", "entitlement.expiring"] } == nil)
        #expect(try mistake { $0.secrets = [String(repeating: "s", count: 16)] } == nil)
        #expect(try mistake { $0.eachCustomer = false } == nil)
        let policies = try mistake {
            $0.eachCustomer = false
            $0.events = ["entitlement.granted", "policy.published"]
        }
        #expect(policies == nil)
    }

    @Test func `each mistake in the configuration of webhooks is one line that says what to do`() throws {
        let cases: [(String, (inout Webhook) -> Void)] = [
            ("the name is missing", { $0.name = "" }),
            ("the URL is invalid", { $0.url = "hooks" }),
            ("has no TLS", { $0.url = "http://example.com/" }),
            ("use https", { $0.url = "ftp://example.com/" }),
            ("remove them", { $0.url = "https://user:word@example.com/" }),
            ("remove them", { $0.url = "https://example.com/#here" }),
            ("isn't a valid port", { $0.url = "https://example.com:0/" }),
            ("isn't a valid host name", { $0.url = "https://exa!mple.com/" }),
            ("isn't a valid host name", { $0.url = "https://ex%C3%A4mple.com/" }),
            ("there is no event `customer.born`", { $0.events = ["customer.born"] }),
            (
                "add `policy.published`",
                {
                    $0.eachCustomer = false
                    $0.events = ["entitlement.granted"]
                }
            ),
            ("too short; use at least 16", { $0.secrets = [String(repeating: "s", count: 15)] }),
            ("too short", { $0.secrets.append("short") }),
            ("0 secrets", { $0.secrets = [] }),
            ("3 secrets", { $0.secrets += [WebhookTestBed.secret, WebhookTestBed.secret] }),
        ]
        for (words, change) in cases {
            let line = try #require(try mistake(change), "\(words)")
            #expect(line.contains(words) && !line.contains("\n"), "\(line)")
            #expect(!line.contains(WebhookTestBed.secret))
        }
    }

    @Test func `settings of webhooks outside their ranges are refused before the service starts`() throws {
        typealias Setting = WritableKeyPath<WebhookSettings, Int>
        let ranges: [(String, Setting, ClosedRange<Int>)] = [
            ("expiringDays", \.expiringDays, 0...365), ("retentionDays", \.retentionDays, 4...3650),
            ("concurrency", \.concurrency, 1...100),
        ]
        for (name, setting, range) in ranges {
            func mistake(_ value: Int) throws -> String? {
                var configuration = try Calculator.configuration("/tmp")
                configuration.webhookSettings[keyPath: setting] = value
                return configuration.mistakes.first?.description
            }
            for value in [range.lowerBound, range.upperBound] { #expect(try mistake(value) == nil, "\(name)") }
            for value in [range.lowerBound - 1, range.upperBound + 1] {
                let line = try #require(try mistake(value), "\(name): \(value)")
                #expect(line.contains("`webhookSettings.\(name)`") && line.contains("found \(value)"), "\(line)")
            }
        }
    }

    @Test func `messages are kept for as many days as the setting says`() async throws {
        try await withWebhooks([.local(9)], { $0.webhookSettings.retentionDays = 5 }) { _, hooks in
            #expect(hooks.entitlementChanges.retention == 5 * 86_400)
            #expect(hooks.workers.map(\.webhook.name) == ["app"])
        }
    }

    @Test func `two webhook endpoints with the same name are refused`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.webhooks = [.local(1), .local(2)]
        #expect(configuration.mistakes.first?.description.contains("two webhooks have this name") == true)
    }

    @Test func `a webhook with two secrets sends a signature for each secret`() {
        let body = Array(#"{"id":"evt_1"}"#.utf8)
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let both = WebhookSignature.text(of: body, at: date, secrets: ["new secret of ours", "old secret of ours"])
        let codes = both.split(separator: ",").dropFirst()
        #expect(both.hasPrefix("t=1700000000,v1=") && codes.count == 2)
        for (code, secret) in zip(codes, ["new secret of ours", "old secret of ours"]) {
            #expect(WebhookSignature.text(of: body, at: date, secrets: [secret]) == "t=1700000000,\(code)")
        }
    }

    /// Runs the sample in `Docs/webhooks.md`, which receivers copy.
    @Test func `the Python sample in webhooks.md accepts only genuine and recent messages`() throws {
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Docs/webhooks.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let sample = try #require(text.components(separatedBy: "```python\n").dropFirst().first)
        let code = try #require(sample.components(separatedBy: "```").first)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let body = #"{"id":"evt_1"}"#
        let secrets = ["new secret of ours", "old secret of ours"]
        let signature = WebhookSignature.text(of: Array(body.utf8), at: now, secrets: secrets)
        func verdict(_ body: String, _ signature: String, _ secret: String, after seconds: Int = 0) throws -> String {
            let script =
                code + "\nprint(verify(\(literal(body)).encode(), \(literal(signature)), \(literal(secret)), "
                + "now=\(1_700_000_000 + seconds)))"
            let result = try Tool.run("/usr/bin/env", ["python3", "-c", script])
            try #require(result.status == 0, "\(result.errors)")
            return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        for secret in secrets { #expect(try verdict(body, signature, secret) == "True") }
        #expect(try verdict(body, signature, "another secret") == "False")
        #expect(try verdict(body + " ", signature, secrets[0]) == "False")
        #expect(try verdict(body, signature, secrets[0], after: 299) == "True")
        #expect(try verdict(body, signature, secrets[0], after: 301) == "False")
        #expect(try verdict(body, "t=1700000001," + signature.dropFirst(13), secrets[0]) == "False")
        for broken in ["", "t=,v1=", "v1=00", "t=x,v1=y", ",,,"] {
            #expect(try verdict(body, broken, secrets[0]) == "False")
        }
    }

    private func literal(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "'", with: "\\'") + "'"
    }

    @Test func `each line of the secret file of a webhook is a secret, without blanks and blank lines`() throws {
        let folder = try Folder()
        let path = try folder.writeSecret(" new secret of ours \n\n\told secret of ours\r\n", to: "secrets")
        #expect(try Webhook.secrets(in: path) == ["new secret of ours", "old secret of ours"])
        let missing = folder.url("none").path
        #expect(throws: ServiceError.keyFile(path: missing, detail: "there is no such file; check the path")) {
            try Webhook.secrets(in: missing)
        }
    }
}
