import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureStore

/// Checks that `Authorization: Bearer …` contains a valid admin key with the needed right.
package struct AdminKeyCheck: Sendable {
    let store: Store
    /// The key in the setting `adminKey`; nil if it isn't set. All other keys are in the database.
    let configuredKey: AdminKey?
    let now: @Sendable () -> Date
    private let wrongKeys = WrongKeyLimit()

    /// The name of the configured admin key in the audit trail.
    package static let configuredName = "adminKey"

    /// Returns the name of the request's admin key for the audit trail, after checking that the key has the needed
    /// right.
    ///
    /// Throws `notAuthenticated` for a missing or wrong key, and `tooManyRequests` after many wrong keys. Throws
    /// `forbidden` if the key lacks the right, and writes the refusal to the audit trail.
    ///
    /// - Parameter customer: The public ID of the customer whom the request is about, for the audit trail.
    func keyName(
        of request: Request, _ context: ServiceContext, needing right: AdminRight, on customer: String? = nil
    ) async throws -> String {
        let now = now()
        let address = WrongKeyLimit.countedAddress(of: context.peer)
        // A request without a key isn't counted as a wrong key. Otherwise, a browser or a monitoring probe could use up
        // the limit of its address.
        guard request.hasAuthorization else {
            throw Problem(.notAuthenticated, "the admin key is missing; send it as `Authorization: Bearer …`")
        }
        // A valid key always works, even after wrong keys from the same address.
        guard let secret = request.adminKey, let key = try await key(with: secret) else {
            try wrongKeys.check(address, now: now)
            let count = wrongKeys.countWrongKey(from: address, now: now)
            context.logger.warning(
                "a request had a wrong admin key",
                metadata: ["address": "\(address)", "count": "\(count)", "right": "\(right.rawValue)"])
            throw Problem(.notAuthenticated, "the admin key is wrong or revoked; send a valid key")
        }
        guard key.scope.rights.contains(right) else {
            let entry = AuditEntry(
                at: now, actor: key.name, action: right.rawValue, customer: customer,
                detail: ["refused": Problem.Code.forbidden.rawValue])
            try await store.write { try $0.audit(entry) }
            let scopes = StoredAdminKey.Scope.allCases.filter { $0.rights.contains(right) }.map { "`\($0.rawValue)`" }
            throw Problem(
                .forbidden,
                "a key of scope `\(key.scope.rawValue)` isn't allowed to send this request; use a key of scope "
                    + scopes.joined(separator: " or "))
        }
        return key.name
    }

    /// Returns the name and scope of a key; nil if it is neither the configured key nor a valid key in the database. The
    /// scope is the key's set of rights.
    private func key(with secret: KeySecret) async throws(StoreError) -> (name: String, scope: StoredAdminKey.Scope)? {
        if let configuredKey, configuredKey.matches(secret) { return (Self.configuredName, .admin) }
        return try await store.read { try $0.key(withSecret: secret.hash) }.map { ($0.name, $0.scope) }
    }
}

/// Limits the wrong admin keys from one address, so that keys can't be guessed.
final class WrongKeyLimit: Sendable {
    /// The window of each address. See `countedAddress(of:)` for the form of an address.
    private let windows = Locked<[String: Window]>([:])

    /// A minute in which the wrong keys of one address are counted.
    private struct Window {
        let end: Date
        /// The number of wrong keys.
        var count: Int

        /// Whether the window isn't over. False too if the clock was set back by more than a window's length, because
        /// the window would then end too late.
        func contains(_ now: Date) -> Bool { now < end && end.timeIntervalSince(now) <= 2 * WrongKeyLimit.length }
    }

    /// The number of wrong keys in a window, after which the address must wait until the window ends.
    static let limit = 10
    /// The length of a window in seconds.
    static let length: TimeInterval = 60
    /// The most addresses to remember.
    static let capacity = 4096

    /// The address for which a client's wrong keys are counted: the client's IPv4 address, the /64 network of its IPv6
    /// address, or `unknown` for all clients without an IP address.
    static func countedAddress(of peer: Peer?) -> String { peer?.address?.ofClient.description ?? "unknown" }

    /// Checks that a client with this address may try a key now. Throws `tooManyRequests` if the client must wait.
    func check(_ address: String, now: Date) throws(Problem) {
        guard let seconds = wait(for: address, now: now) else { return }
        throw Problem(
            .tooManyRequests, "too many wrong keys came from your address; try again after \(seconds) s",
            retryAfter: seconds)
    }

    /// Checks that the request has the configured admin key; otherwise throws `refusal`.
    ///
    /// As in `AdminKeyCheck`, a request without a key isn't a guess, and the right key is never refused.
    func check(
        _ key: AdminKey?, in request: Request, from address: String, now: Date, else refusal: Problem
    ) throws(Problem) {
        guard request.hasAuthorization else { throw refusal }
        guard key?.matches(request) != true else { return }
        try check(address, now: now)
        _ = countWrongKey(from: address, now: now)
        throw refusal
    }

    /// Returns the seconds until a client with this address may try again; nil if it may try now.
    func wait(for address: String, now: Date) -> Int? {
        guard let window = windows.withLock({ $0[address] }), window.count >= Self.limit, window.contains(now) else {
            return nil
        }
        return max(1, Int(window.end.timeIntervalSince(now).rounded(.up)))
    }

    /// The number of remembered addresses.
    var count: Int { windows.withLock { $0.count } }

    /// Counts a wrong key, and returns the number of wrong keys in this window.
    func countWrongKey(from address: String, now: Date) -> Int {
        windows.withLock { windows in
            if windows[address] == nil, windows.count >= Self.capacity {
                windows = windows.filter { $0.value.contains(now) }
                // A client that has so many addresses can't be stopped by counting, so the table is emptied to limit
                // the memory.
                if windows.count >= Self.capacity { windows = [:] }
            }
            let current = windows[address].flatMap { $0.contains(now) ? $0 : nil }
            var window = current ?? Window(end: now.addingTimeInterval(Self.length), count: 0)
            window.count += 1
            windows[address] = window
            return window.count
        }
    }
}
