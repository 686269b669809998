import Foundation

/// The proxy variables of the environment. On Linux, Foundation also applies them to addresses of this machine.
enum ProxySettings {
    /// Excludes this machine's addresses from proxies. Otherwise keys for a local service would be sent to the proxy,
    /// which couldn't reach that service.
    ///
    /// Call this before anything else, because it changes the environment of the process.
    static func exceptThisMachine() {
        let environment = ProcessInfo.processInfo.environment
        let present = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // `*` alone disables all proxies. In a list it has no effect.
        guard present != "*" else { return }
        let names = (present.isEmpty ? [] : [present]) + ["localhost", "127.0.0.1", "::1", "[::1]"]
        setenv("no_proxy", names.joined(separator: ","), 1)
    }
}
