public import Foundation

/// The limits, timeouts, rates and lifetimes in the configuration.
extension ServiceConfiguration {
    /// The limits of requests and connections.
    public struct Limits: Sendable, Hashable {
        /// The largest body of a request, in bytes. The response to a larger body is 413.
        public var bodySize = 4 * 1024 * 1024
        /// The maximum number of transactions in a sync.
        public var transactions = 2000
        /// The maximum number of renewal infos in a sync.
        public var renewalInfos = 500
        /// The maximum number of concurrent connections, never more than the process may open. If there are more, the
        /// service closes the least important one; see `Connections`.
        public var connections = 16_384
        /// The maximum number of connections from one IPv4 address or one /64 of IPv6. A /48 may have four times as
        /// many, but at most half of `connections`. Connections from loopback and from declared proxies have no such
        /// limit. Behind a declared proxy, the number limits the concurrent requests of one client instead. The default
        /// is high, because a mobile carrier may use one address for all of its customers.
        public var connectionsPerAddress = 256
        /// The lowest rate at which a client may send a body, in bytes per second over the last `Timeouts.body`
        /// seconds; 0 for no limit. The default is the same as in Apache's `mod_reqtimeout`.
        public var bodyRate = 500

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// The timeouts for clients, in seconds.
    public struct Timeouts: Sendable, Hashable {
        /// The time in which a new connection must send the head of its first request, including the TLS handshake.
        public var head = 10
        /// The time over which the rate of a body is measured. A body that is complete by then is never too slow.
        public var body = 10
        /// The time in which a client must read at least one byte of a response.
        public var response = 60
        /// The time until a connection without requests is closed.
        public var idle = 75
        /// The time to complete accepted requests after a signal to stop.
        public var shutdown = 30

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// How often one client may send requests. The rates are high, because a mobile carrier may use one address for all
    /// of its customers.
    public struct RateLimits: Sendable, Hashable {
        /// The rate for one IPv4 address or one /64 of IPv6. The response to further requests is 429 with
        /// `Retry-After`.
        public var perAddress = Rate(perSecond: 5000, burst: 50_000)
        /// The rate for one access token, from any address.
        public var perToken = Rate(perSecond: 1000, burst: 10_000)

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// The rate of a token bucket: how many requests a client may send on average, and at once.
    public struct Rate: Sendable, Hashable {
        /// A rate without a limit.
        public static let unlimited = Rate(perSecond: 0, burst: 0)

        /// The average number of requests per second; 0 for no limit.
        public var perSecond: Double
        /// The number of requests that may come at once after a pause; a number below 1 is used as 1.
        public var burst: Double

        /// Creates a rate. There is no limit if `perSecond` is 0.
        public init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// The lifetimes of tokens, in seconds.
    public struct TokenLifetimes: Sendable, Hashable {
        /// The longest lifetime of an entitlement token. Rights in it may end earlier.
        public var entitlementToken: TimeInterval = SigningKeyFile.defaultTokenLife
        /// The lifetime of an entitlement token for a request without a nonce, and of every right in it.
        public var entitlementTokenWithoutNonce: TimeInterval = 3600
        /// The time after which a device asks again about permanent rights.
        public var refresh: TimeInterval = 14 * 86_400
        /// The lifetime of an access token for bound artifacts: they prove that they belong to the device that sent
        /// them.
        public var accessToken: TimeInterval = 3600
        /// The lifetime of an access token for unbound artifacts, which came without such proof. The token gives access
        /// only to the data of these artifacts.
        public var unboundAccessToken: TimeInterval = 600

        /// The defaults of `tenure serve`.
        public init() {}
    }
}
