package import Foundation

/// A terminal for a command, which a test reads. The command sees a terminal at its standard output or standard error.
package final class PseudoTerminal: @unchecked Sendable {
    /// The file that the command writes to.
    package let file: FileHandle
    // `Locked` isn't part of this module. `bytes` is used only while the lock is held.
    private let lock = NSLock()
    private var bytes: [UInt8] = []

    package init() throws {
        var (reader, writer): (Int32, Int32) = (-1, -1)
        guard openpty(&reader, &writer, nil, nil, nil) == 0 else { throw CocoaError(.fileReadUnknown) }
        file = FileHandle(fileDescriptor: writer, closeOnDealloc: true)
        Thread.detachNewThread { [weak self, reader] in
            defer { close(reader) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                // Fails after the last process has closed the terminal.
                let count = read(reader, &buffer, buffer.count)
                guard count > 0, let self else { return }
                self.append(buffer[..<count])
            }
        }
    }

    private func append(_ more: ArraySlice<UInt8>) {
        lock.lock()
        bytes += more
        lock.unlock()
    }

    /// What was written so far.
    package var text: String {
        lock.lock()
        defer { lock.unlock() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until the terminal's text passes a check. Returns false if it doesn't within half a minute.
    package func shows(_ isExpected: (String) -> Bool) async throws -> Bool {
        for _ in 0..<1500 {
            if isExpected(text) { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
