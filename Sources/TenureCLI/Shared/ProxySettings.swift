import Foundation

/// The proxy variables of the environment. On Linux, Foundation applies them also to this machine's own addresses.
enum ProxySettings {
    /// Excludes this machine's addresses from proxies. A proxy would see keys that never leave the machine, and couldn't
    /// reach a local service.
    ///
    /// Call it before anything else, because it changes the environment of the process.
    static func exceptThisMachine() {
        let environment = ProcessInfo.processInfo.environment
        let present = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // `*` alone disables all proxies. In a list it has no effect.
        guard present != "*" else { return }
        let names = (present.isEmpty ? [] : [present]) + ["localhost", "127.0.0.1", "::1", "[::1]"]
        setenv("no_proxy", names.joined(separator: ","), 1)
    }
}
