import Foundation

@testable import Tenure

/// The app's end of the download daemon, in place of a background `URLSession`.
struct DaemonConnection: BackgroundDownloads {
    private let daemon: DaemonFolder

    init(folder: String) {
        daemon = DaemonFolder(path: folder)
        daemon.prepare()
    }

    func connect(
        ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void
    ) {
        let daemon = daemon
        Thread.detachNewThread {
            var isFirst = true
            while true {
                for (id, result) in daemon.all("results", as: DaemonFolder.Result.self) {
                    let body = result.hasBody ? URL(fileURLWithPath: daemon.file("bodies", id)) : nil
                    ended(
                        BackgroundResult(
                            label: result.label, status: result.status, contentRange: result.contentRange, file: body))
                    // The system also removes a file once the app has handled its result.
                    daemon.remove("bodies", id)
                    daemon.remove("results", id + ".json")
                }
                if isFirst { delivered() }
                isFirst = false
                usleep(10_000)
            }
        }
    }

    func downloads() -> [BackgroundStatus] {
        daemon.all("queue", as: DaemonFolder.Order.self).map {
            BackgroundStatus(label: $0.record.label, received: daemon.received($0.id))
        }
    }

    func start(_ orders: [BackgroundOrder]) {
        for (number, order) in orders.enumerated() {
            let id = String(format: "%020.0f-%03d", Date().timeIntervalSince1970 * 1e6, number)
            daemon.write(
                DaemonFolder.Order(url: order.url, headers: order.headers, label: order.label), "queue", id)
        }
        ContentProcess.say("handed over \(orders.count)")
    }

    func cancel(_ labels: Set<String>) {
        for (id, order) in daemon.all("queue", as: DaemonFolder.Order.self) where labels.contains(order.label) {
            _ = FileManager.default.createFile(atPath: daemon.file("canceled", id), contents: nil)
        }
    }
}
