import Foundation
import TenureCore
import TenureStore

/// The servers that one URL names, with the URL's database and role. Finds the *primary*, the server that accepts
/// writes. The others are *standbys*, which copy its changes and refuse writes.
///
/// After a failover, several servers may accept writes. The one with the highest *timeline* is the primary: PostgreSQL
/// begins a higher timeline each time a standby is promoted to the primary. So an old primary that comes back is never
/// used again, even after a restart of this process.
final class PostgresCluster: Sendable {
    let address: PostgresAddress
    private let hosts: [PostgresHost]
    private let state = Locked(State())
    /// Held while one thread looks for the primary. Other threads wait for the result. `Locked` can't be used here,
    /// because a connection isn't sendable.
    private let searchLock = NSLock()
    /// Runs `checkOtherServers`.
    private let watchQueue = DispatchQueue(label: "tenure.postgres.watch")

    private struct State {
        /// The host of the primary; nil if it is unknown or can't be reached.
        var primary: PostgresHost?
        /// The highest timeline of any primary so far.
        var timeline: UInt32 = 0
        /// Why the last search found no primary, and when it failed.
        var failure: (error: PostgresFailure, at: ContinuousClock.Instant)?
        /// The primary to which this process connected last.
        var knownPrimary: KnownPrimary?
        /// Where this process stores the last primary: one storage for each app with this URL.
        var storages: [PrimaryStorage] = []
        /// Whether `checkOtherServers` has been started.
        var isWatched = false
        /// Whether a connection was ever opened.
        var hasConnected = false
    }

    init(_ address: PostgresAddress) {
        self.address = address
        hosts = address.hosts.map { PostgresHost($0) }
    }

    /// Whether a connection was ever opened.
    var hasConnected: Bool { state.withLock { $0.hasConnected } }

    /// Adds the storage of one app. From now on, servers with a lower timeline than the stored primary are refused, and
    /// each newer primary is written to the storage.
    func use(_ storage: PrimaryStorage) {
        let known = state.withLock { state in
            if !state.storages.contains(where: { $0.name == storage.name }) { state.storages.append(storage) }
            return state.knownPrimary
        }
        if let known { store(known, in: storage) }
    }

    /// Connects to the primary. If the primary is unknown or can't be reached, looks for it among all servers.
    func connect(for role: PostgresConnection.Role) throws(PostgresFailure) -> PostgresConnection {
        if let primary = state.withLock({ $0.primary }) {
            do {
                return try setPrimary(try PostgresConnection(to: address, at: primary, for: role))
            } catch {
                state.withLock { if $0.primary === primary { $0.primary = nil } }
                // With a single server, there is no other primary to find.
                guard hosts.count > 1 else { throw error }
            }
        }
        let began = ContinuousClock.now
        searchLock.lock()
        defer { searchLock.unlock() }
        let (primary, failure) = state.withLock { ($0.primary, $0.failure) }
        if let primary { return try setPrimary(try PostgresConnection(to: address, at: primary, for: role)) }
        // One thread asks the servers for all threads that wait here, so they share its failure.
        if let failure, failure.at > began { throw failure.error }
        do {
            return try setPrimary(
                try primaryConnection(among: PostgresProbe(of: hosts, at: address, for: role).answers()))
        } catch {
            state.withLock { $0.failure = (error, .now) }
            throw error
        }
    }

    // MARK: The primary

    /// Returns the connection to the primary. Throws if no server may be used as the primary.
    ///
    /// - Parameter answers: for each server, the connection to it, or the failure to connect.
    private func primaryConnection(
        among answers: [Result<PostgresConnection, PostgresFailure>]
    ) throws(PostgresFailure) -> PostgresConnection {
        // Read the storages first: a message about an unreadable storage would be hard to find among the messages about
        // the servers.
        for storage in state.withLock({ $0.storages }) { _ = try primary(in: storage) }
        var best: PostgresConnection?
        var failures: [PostgresFailure] = []
        for answer in answers {
            switch answer {
            case .success(let connection):
                do {
                    try check(connection)
                    let highest = best?.server.timeline ?? 0
                    if best == nil || connection.server.timeline > highest { best = connection }
                } catch {
                    failures.append(error)
                }
            case .failure(let failure): failures.append(failure)
            }
        }
        if let best { return best }
        throw combined(failures)
    }

    /// Throws if the server is a standby, or if another server was promoted since this server was the primary.
    private func check(_ connection: PostgresConnection) throws(PostgresFailure) {
        guard connection.server.takesWrites else { throw .standby(address.description) }
        let (timeline, storages) = state.withLock { ($0.timeline, $0.storages) }
        for storage in storages {
            guard let known = try primary(in: storage), known.system == connection.server.system,
                connection.server.timeline < known.timeline
            else { continue }
            throw oldPrimaryFailure(
                connection, olderThan: known.timeline,
                remedy: """
                    . If you restored a backup and this server replaces all later servers, remove `\(storage.name)`
                    """)
        }
        guard connection.server.timeline >= timeline else { throw oldPrimaryFailure(connection, olderThan: timeline) }
    }

    /// Returns the error about an old primary: a server with a lower timeline than `timeline`.
    ///
    /// - Parameter remedy: what the operator can do in a special case. It is appended to the message, so it begins with
    ///   a period.
    private func oldPrimaryFailure(
        _ connection: PostgresConnection, olderThan timeline: UInt32, remedy: String = ""
    ) -> PostgresFailure {
        .lost(
            address.description,
            "the server at \(connection.host.name) has timeline \(connection.server.timeline), but a server "
                + "with timeline \(timeline) was promoted since; stop the old primary\(remedy)")
    }

    /// Reads the primary from a storage; nil if none was stored yet. If the storage can't be read, throws a failure
    /// that says what to do.
    private func primary(in storage: PrimaryStorage) throws(PostgresFailure) -> KnownPrimary? {
        do {
            return try storage.read()
        } catch {
            throw .unusable(
                address.description,
                """
                `\(storage.name)` can't be read (\(error)), so an old primary server might be used. Run `tenure` as the \
                service's user. If the file is damaged and the servers in the URL are right, remove it
                """)
        }
    }

    /// Writes the primary to the storage, unless the storage already has this primary or a later one. The service keeps
    /// running if that fails.
    private func store(_ primary: KnownPrimary, in storage: PrimaryStorage) {
        // Another connection may have found a later primary in the meantime.
        if let known = try? storage.read(), known.system == primary.system, known.timeline >= primary.timeline {
            return
        }
        try? storage.write(primary)
    }

    /// Makes this connection's server the primary, and ends the connections to all other servers. Returns the
    /// connection.
    private func setPrimary(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresConnection {
        do {
            try check(connection)
        } catch {
            connection.host.dropConnections()
            throw error
        }
        let isNew = state.withLock { state in
            state.timeline = max(state.timeline, connection.server.timeline)
            state.hasConnected = true
            let hasChanged = state.primary !== connection.host
            state.primary = connection.host
            return hasChanged
        }
        storePrimary(connection.server)
        if isNew { for host in hosts where host !== connection.host { host.dropConnections() } }
        beginWatching()
        return connection
    }

    /// Stores which server is the primary, in this object and in all storages.
    private func storePrimary(_ server: PostgresServerState) {
        guard let system = server.system, server.timeline > 0 else { return }
        let primary = KnownPrimary(system: system, timeline: server.timeline)
        let storages = state.withLock { state in
            state.knownPrimary = primary
            return state.storages
        }
        for storage in storages { store(primary, in: storage) }
    }

    /// Combines the failures of all servers. If one of the failures allows a retry, the result also allows a retry.
    private func combined(_ failures: [PostgresFailure]) -> PostgresFailure {
        guard failures.count > 1
        else { return failures.first ?? .lost(address.description, "none of its servers answers in time") }
        let retryable = failures.filter { $0.error.isRetryable }
        guard !retryable.isEmpty else { return failures[0] }
        // Leave out standbys: the failures of the other servers say more about the problem.
        let others = retryable.filter { if case .readOnly = $0.error { false } else { true } }
        guard let first = others.first else { return retryable[0] }
        guard others.count > 1 else { return first }
        // The part of each message that doesn't repeat the database's name.
        let details = others.map { failure in
            if case .unreachable(_, let detail) = failure.error { detail } else { failure.error.description }
        }
        return .lost(address.description, details.joined(separator: "; "))
    }

    // MARK: Detecting failovers

    /// Starts `checkOtherServers`, if the URL names several servers: an old primary may still answer although another
    /// server was promoted.
    private func beginWatching() {
        guard hosts.count > 1 else { return }
        let isWatched = state.withLock { state in
            defer { state.isWatched = true }
            return state.isWatched
        }
        if !isWatched { checkOtherServers() }
    }

    /// Every few seconds, connects to all servers except the primary. If one of them accepts writes and has a higher
    /// timeline, makes it the primary.
    private func checkOtherServers() {
        watchQueue.asyncAfter(deadline: .now() + Self.watchInterval) { [weak self] in
            guard let self else { return }
            let (primary, timeline) = self.state.withLock { ($0.primary, $0.timeline) }
            let others = self.hosts.filter { $0 !== primary }
            let answers = PostgresProbe(of: others, at: self.address, for: .lookups).answers()
            if let found = try? self.primaryConnection(among: answers), found.server.timeline > timeline {
                _ = try? self.setPrimary(found)
            }
            self.checkOtherServers()
        }
    }

    /// The seconds between two checks.
    private static let watchInterval = 3.0
}
