package import Foundation

/// Downloads that the system continues while the app is suspended or isn't running: a background `URLSession`, or a
/// test's substitute for a background session.
///
/// A download has a label that says which bytes of which pack it fetches. The process that gets the file needs the
/// label, because another process may have started the download.
package protocol BackgroundDownloads: Sendable {
    /// Connects this process to the system's downloads. `ended` is called for every download that ends, including the
    /// downloads that ended while no process was connected.
    ///
    /// - Parameters:
    ///   - ended: must move the downloaded file before it returns, because the system then deletes the file.
    ///   - delivered: called after `ended` was called for all downloads that ended while the app wasn't running.
    func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void)

    /// The downloads that haven't ended.
    func downloads() async -> [BackgroundStatus]

    /// Starts these downloads.
    func start(_ orders: [BackgroundOrder]) async

    /// Cancels the downloads with these labels.
    func cancel(_ labels: Set<String>) async

    /// Runs `body`, and asks the system not to suspend the app until `body` returns.
    func keepRunning(_ body: @escaping @Sendable () async -> Void) async
}

extension BackgroundDownloads {
    package func keepRunning(_ body: @escaping @Sendable () async -> Void) async { await body() }
}

/// A request to the system for one download.
package struct BackgroundOrder: Sendable, Hashable {
    /// The URL of the pack's archive, a file with all files of the pack.
    package let url: URL
    package let headers: [String: String]
    /// A string that identifies the download. Its status and its result repeat the label.
    package let label: String
    /// The expected size of the response's body, in bytes.
    let expectedSize: Int64
    /// Whether cellular networks and personal hotspots may be used.
    let allowsExpensiveNetwork: Bool
    /// Whether networks in Low Data Mode may be used.
    let allowsConstrainedNetwork: Bool
}

/// A download that hasn't ended.
package struct BackgroundStatus: Sendable, Hashable {
    let label: String
    /// The number of bytes of the body that were downloaded so far.
    let received: Int64
}

/// The result of a download.
package struct BackgroundResult: Sendable, Hashable {
    let label: String
    /// The status of the response. Nil if there was no response.
    var status: Int?
    /// The response's header `Content-Range`.
    var contentRange: String?
    /// The file with the response's body, whatever its status. Nil if the download failed.
    package var file: URL?
}
