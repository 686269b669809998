package import Foundation

/// The system's downloads, which go on while the app is suspended or isn't running: a background `URLSession`, or a
/// test's imitation of it.
///
/// It makes no decisions. Everything that a download means is in its label, because the process that gets the file may
/// be another one than the one that asked for it.
package protocol BackgroundDownloads: Sendable {
    /// Connects this process. Reports every download that ends, and those that have ended while no process was
    /// connected.
    ///
    /// - Parameters:
    ///   - ended: moves the file before it returns; afterward the system deletes it.
    ///   - delivered: called when everything was reported that ended while the app wasn't running.
    func connect(
        ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void)

    /// The downloads that haven't ended.
    func downloads() async -> [BackgroundStatus]

    func start(_ orders: [BackgroundOrder]) async

    /// Cancels the downloads with these labels.
    func cancel(_ labels: Set<String>) async

    /// Runs `body`, and keeps the app from being suspended meanwhile, as long as the system lets it.
    func keepRunning(_ body: @escaping @Sendable () async -> Void) async
}

extension BackgroundDownloads {
    package func keepRunning(_ body: @escaping @Sendable () async -> Void) async { await body() }
}

/// A download for the system.
package struct BackgroundOrder: Sendable, Hashable {
    package let url: URL
    package let headers: [String: String]
    /// A label, which the result repeats.
    package let label: String
    /// In bytes.
    let expectedSize: Int64
    let allowsExpensiveNetwork: Bool
    let allowsConstrainedNetwork: Bool
}

package struct BackgroundStatus: Sendable, Hashable {
    let label: String
    /// Bytes of the body so far.
    let received: Int64

    package init(label: String, received: Int64) {
        self.label = label
        self.received = received
    }
}

/// The result of a download.
package struct BackgroundResult: Sendable, Hashable {
    let label: String
    /// Nil if there was no response.
    let status: Int?
    let contentRange: String?
    /// The body; nil after a failure. It may be that of any status.
    package let file: URL?

    package init(label: String, status: Int? = nil, contentRange: String? = nil, file: URL? = nil) {
        self.label = label
        self.status = status
        self.contentRange = contentRange
        self.file = file
    }
}
