import Foundation
import TenureHTTP

/// Downloads like the system's daemon, even while the app is suspended or not running:
///
/// - It runs four downloads at once, and retries one without limit after a broken connection.
/// - It follows redirects without asking the app.
/// - It delivers every complete body as a file, also that of a 403, or of a 200 for a range.
/// - It waits for the network silently.
/// - It cancels everything after a force quit.
struct DownloadDaemon: Sendable {
    private let folder: DaemonFolder
    private static let width = 4

    init(folder: String) {
        self.folder = DaemonFolder(path: folder)
        self.folder.prepare()
    }

    func run() async {
        ContentProcess.say("ready")
        var running: [String: Task<Void, Never>] = [:]
        while true {
            let orders = folder.all("queue", as: DaemonFolder.Order.self)
            let isForceQuit = folder.has("force-quit")
            for (id, order) in orders where isForceQuit || folder.has("canceled/" + id) {
                running.removeValue(forKey: id)?.cancel()
                end(id, DaemonFolder.Result(label: order.label))
            }
            if isForceQuit { try? FileManager.default.removeItem(atPath: folder.path + "/force-quit") }
            let left = folder.all("queue", as: DaemonFolder.Order.self)
            for id in running.keys where !left.contains(where: { $0.id == id }) { running[id] = nil }
            for (id, order) in left where running[id] == nil && running.count < Self.width {
                running[id] = Task { await download(order, id) }
            }
            try? await Task.sleep(nanoseconds: 10_000_000)
        }
    }

    private func download(_ order: DaemonFolder.Order, _ id: String) async {
        var url = order.url
        while !Task.isCancelled {
            let wasCut: Bool
            if folder.has("offline") {
                wasCut = true
            } else {
                switch await attempt(order, at: url, id) {
                case .redirect(let other):
                    url = other
                    continue
                case .end(let result):
                    if !Task.isCancelled { end(id, result) }
                    return
                case .cut: wasCut = true
                }
            }
            if wasCut { try? await Task.sleep(nanoseconds: 200_000_000) }
        }
    }

    /// How one attempt to download ended.
    private enum Outcome {
        case end(DaemonFolder.Result)
        case redirect(URL)
        case cut
    }

    private func attempt(_ order: DaemonFolder.Order, at url: URL, _ id: String) async -> Outcome {
        var request = TransportRequest(url, timeout: 60, bodyLimit: .max)
        request.headers = order.headers
        let path = folder.file("bodies", id)
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let body = FileHandle(forWritingAtPath: path) else { return .cut }
        defer { try? body.close() }
        guard
            let head = try? await URLSessionTransport.shared.receive(
                request, accept: { _ in true }, body: { try body.write(contentsOf: $0) })
        else { return .cut }
        if (300..<400).contains(head.status), let other = head.header("Location").flatMap({ URL(string: $0) }) {
            return .redirect(other)
        }
        return .end(
            DaemonFolder.Result(
                label: order.label, status: head.status, contentRange: head.header("Content-Range"), hasBody: true))
    }

    private func end(_ id: String, _ result: DaemonFolder.Result) {
        if !result.hasBody { folder.remove("bodies", id) }
        folder.write(result, "results", id)
        folder.remove("queue", id + ".json")
        folder.remove("canceled", id)
    }
}
