import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the error of a service that doesn't start` {
    private static let texts: [(error: ServiceError, text: String)] = [
        (.invalidPort(70_000), "`70000` isn't a valid port; use a port from 1 to 65535, or 0 for any free port"),
        (
            .portInUse(host: "::1", port: 80),
            """
            port 80 on `::1` is in use; stop the process that listens there, or choose another port with --port
            """
        ),
        (
            .cannotListen(host: "192.0.2.1", port: 80, detail: "no such address"),
            "can't listen on `192.0.2.1`, port 80: no such address; choose another `host` or `port`"
        ),
        (
            .noEnvironment,
            "no App Store environment is configured; set `environments` to production, sandbox, xcode, or several of them"
        ),
        (
            .productionNeedsAppleID,
            "the app's Apple ID is missing, which production artifacts contain; add `appleID` to the policy's `app`"
        ),
        (
            .testAnchorsBeyondLoopback(host: "h"),
            """
            `trust` has a test authority, and other machines can reach `h`; anyone with the authority's key could get \
            every entitlement. Listen on 127.0.0.1 without a proxy, or set `testAnchorsBeyondLoopback` to true
            """
        ),
        (.noAdminKey(host: "h"), "other machines can reach `h`, and no admin key is configured; set `adminKeyFile`"),
        (.invalidAdminKey, "the admin key is invalid or incomplete; create one with `tenure admin-key generate`"),
        (
            .noTransportSecurity(host: "h"),
            """
            `h` isn't loopback, and there is no TLS; set `tls.certificate` and `tls.key`, or put a TLS proxy in front \
            and set `behindProxy` to its address
            """
        ),
        (.unreadablePolicy(path: "p", detail: "d"), "the policy `p` can't be read: d"),
        (.brokenPolicy(["one", "two"]), "one\ntwo"),
        (
            .noKeysFolder,
            """
            the folder of the service's keys isn't set; with a database server, set `keys` to a folder that all \
            processes have in common
            """
        ),
        (.keyFile(path: "p", detail: "d"), "the key file `p` can't be used: d"),
        (.certificateFile(path: "p", detail: "d"), "the TLS file `p` can't be used: d"),
        (.webhook(name: "n", detail: "d"), "the webhook `n` is invalid: d"),
        (.appStore("d"), "the App Store can't be called: d"), (.content("d"), "d"),
        (.clock("d"), "the setting `clock` is invalid: d"), (.apps("d"), "the apps can't run together: d"),
        (.app(name: "n", "d"), "the app `n`: d"), (.database("d"), "d"), (.otherKeys("d"), "d"),
        (.failed("d"), "the service failed: d"),
        (.several([.invalidAdminKey, .app(name: "n", "d")]), "\(ServiceError.invalidAdminKey)\nthe app `n`: d"),
    ]

    @Test func `each error of a service says what is wrong and how to fix it`() {
        for (error, text) in Self.texts { #expect(error.description == text) }
    }

    @Test func `several mistakes become one error, and a single mistake stays as it is`() {
        #expect(ServiceError([]) == nil)
        #expect(ServiceError([.noEnvironment]) == .noEnvironment)
        #expect(
            ServiceError([.noEnvironment, .invalidAdminKey]) == .several([.noEnvironment, .invalidAdminKey]))
        #expect(ServiceError(wrapping: ServiceError.invalidAdminKey) == .invalidAdminKey)
        #expect(ServiceError(wrapping: StoreError.busy) == ServiceError(StoreError.busy))
        #expect(ServiceError(wrapping: Unknown()) == .failed("Unknown()"))
    }

    private struct Unknown: Error {}
}
