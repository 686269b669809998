import Foundation
import TenureAPI
import TenureRehearsal

/// The lines that do not count, each with its number and why: JSON, one to a line. Made when the first one comes.
final class BadLineFile {
    let path: String
    private var handle: FileHandle?
    private var buffer: [UInt8] = []

    /// Whether a file that is already there is replaced.
    private let replaces: Bool

    init(path: String, replaces: Bool = false) {
        self.path = path
        self.replaces = replaces
    }

    var isUsed: Bool { handle != nil }

    func add(_ line: BadLine) throws {
        if handle == nil { try make() }
        var writer = JSONWriter()
        writer.object {
            $0.key("line")
            $0.value(line.line)
            $0.key("code")
            $0.value(line.fault.code.name)
            if let part = line.fault.part {
                $0.key("part")
                $0.value(part)
            }
            $0.key("rest")
            $0.value(line.isWholeLine ? "nothing of the line counts" : "the rest of the line counts")
            $0.key("detail")
            $0.value(line.fault.detail)
        }
        buffer += writer.bytes + [UInt8(ascii: "\n")]
        if buffer.count >= 1 << 16 { try flush() }
    }

    func close() throws {
        guard handle != nil else { return }
        try flush()
        try? handle?.close()
    }

    private func make() throws {
        // What people bought is nobody else's.
        handle = try OutputFile.opened(at: path, replacing: replaces, permissions: 0o600)
    }

    private func flush() throws {
        do {
            try handle?.write(contentsOf: Data(buffer))
        } catch {
            throw CommandError("`\(path)` cannot be written; make room, or name another file by `--rejected`")
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
