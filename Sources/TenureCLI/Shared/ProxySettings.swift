import Foundation

/// What the environment says of proxies, which Foundation follows on Linux, for this machine's own addresses too.
enum ProxySettings {
    /// Nothing on this machine is asked through a proxy: it would see keys that never leave the machine, and finds no
    /// service here. To be called before anything else: it changes the environment of the process.
    static func exceptThisMachine() {
        let environment = ProcessInfo.processInfo.environment
        let present = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // By itself it means that there is no proxy at all, and among others it means nothing.
        guard present != "*" else { return }
        let names = (present.isEmpty ? [] : [present]) + ["localhost", "127.0.0.1", "::1", "[::1]"]
        setenv("no_proxy", names.joined(separator: ","), 1)
    }
}
