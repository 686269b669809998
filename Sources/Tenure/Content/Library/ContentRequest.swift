import Foundation

/// A download that was asked for. It stays until the pack is installed or the download is canceled.
struct ContentRequest: Codable, Sendable, Hashable {
    let pack: String
    var isPaused = false
    var allowsExpensiveNetwork = false

    static let fileName = "requests.json"
    private static let largestFile = 1 << 16

    static func read(in folder: URL) -> [ContentRequest] {
        let data = Disk.contents(of: folder.path + "/" + fileName, most: largestFile)
        return data.flatMap { try? JSONDecoder().decode([ContentRequest].self, from: $0) } ?? []
    }

    static func write(_ requests: [ContentRequest], in folder: URL) throws(DiskFailure) {
        try ContentLocation.make(folder)
        let data = (try? JSONEncoder().encode(requests)) ?? Data()
        try Disk.replace(folder.path + "/" + fileName, with: data)
    }
}
