import Foundation
package import Logging
import TenureCore
import TenureJSON

/// Writes each log entry as a line with a JSON object: `time`, `level`, `message` and the metadata. Whole numbers stay
/// numbers; all other values are strings.
package struct JSONLogHandler: LogHandler {
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let write: @Sendable ([UInt8]) -> Void

    /// Creates a handler that passes each line, with its newline, to `write`.
    init(write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
    }

    /// Creates a handler that writes to standard error. The handler writes each line in one call, so that lines of
    /// several threads don't mix.
    package static func standardError() -> JSONLogHandler {
        JSONLogHandler { line in
            line.withUnsafeBytes { bytes in _ = Foundation.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
        }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var json = JSONWriter(capacity: 256)
        json.beginObject()
        json.field("time", Date())
        json.field("level", event.level.rawValue)
        json.field("message", event.message.description)
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata?.withoutServices { all.merge(own) { $1 } }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            json.key(Self.names[name] ?? name)
            if case .stringConvertible(let value) = value, let number = value as? Int {
                json.value(number)
            } else {
                json.value(value.description)
            }
        }
        json.endObject()
        write(Array(String(decoding: json.bytes, as: UTF8.self).escapedJSONForDisplay.utf8) + [UInt8(ascii: "\n")])
    }

    /// Metadata with another name in the line: a shorter name for Hummingbird's request ID, and a trailing `_` if the
    /// line has a field with the same name already.
    private static let names = [
        RequestID.metadataKey: "request", "time": "time_", "level": "level_", "message": "message_",
    ]
}

extension Logger.Metadata {
    /// The metadata without the fields of swift-service-lifecycle, which describe whole services with everything they
    /// hold.
    var withoutServices: Self { filter { !$0.key.hasPrefix("sl-service") } }
}
