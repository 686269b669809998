import Foundation

/// The files through which an app and the download daemon communicate.
///
/// ```
/// queue/ID.json     a download that the app has ordered
/// bodies/ID         the bytes of the body so far
/// canceled/ID       the app cancels the order
/// results/ID.json   the result of an order, until the app has read it
/// offline           there is no network
/// force-quit        the user has closed the app: all orders are canceled
/// ```
struct DaemonFolder: Sendable {
    let path: String

    /// A download that the app has ordered from the daemon.
    struct Order: Codable, Sendable {
        let url: URL
        let headers: [String: String]
        let label: String
    }

    /// The response to an order, which the app reads.
    struct Result: Codable, Sendable {
        let label: String
        var status: Int?
        var contentRange: String?
        var hasBody = false
    }

    func prepare() {
        for name in ["queue", "bodies", "canceled", "results"] {
            try? FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
        }
    }

    func file(_ folder: String, _ id: String) -> String { "\(path)/\(folder)/\(id)" }
    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }
    func remove(_ folder: String, _ id: String) { try? FileManager.default.removeItem(atPath: file(folder, id)) }

    /// The records of a folder that are complete.
    func all<Record: Decodable>(_ folder: String, as type: Record.Type) -> [(id: String, record: Record)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []
        return names.sorted().compactMap { name in
            guard name.hasSuffix(".json"), let data = FileManager.default.contents(atPath: file(folder, name)),
                let record = try? JSONDecoder().decode(type, from: data)
            else { return nil }
            return (String(name.dropLast(5)), record)
        }
    }

    func write(_ record: some Encodable, _ folder: String, _ id: String) {
        guard let data = try? JSONEncoder().encode(record) else { return }
        try? data.write(to: URL(fileURLWithPath: file(folder, id + ".json")), options: .atomic)
    }

    func received(_ id: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file("bodies", id))
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
