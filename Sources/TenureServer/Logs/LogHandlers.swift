import Foundation
package import Logging
import TenureCore
import TenureJSON

/// The service's log for programs: writes each entry as one line with a JSON object, which has the fields `time`,
/// `level` and `message`, and the metadata. Whole numbers stay numbers; all other values are strings.
package struct JSONLogHandler: LogHandler {
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    /// Receives each line, with its newline.
    let write: @Sendable ([UInt8]) -> Void

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
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let ofEvent = event.metadata?.withoutServices { fields.merge(ofEvent) { $1 } }
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
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

    /// The metadata keys that get another name in the line. Hummingbird's key for the request ID is shortened. A key
    /// that is the name of another field gets a trailing `_`.
    private static let names = [
        RequestID.metadataKey: "request", "time": "time_", "level": "level_", "message": "message_",
    ]
}

extension Logger.Metadata {
    /// The metadata without the keys of swift-service-lifecycle. Their values describe a service with all of its
    /// properties, which would fill the log.
    var withoutServices: Self { filter { !$0.key.hasPrefix("sl-service") } }
}

/// The service's log for people: writes lines of text to standard error, and escapes characters that would alter a
/// terminal's display.
package struct TextLogHandler: LogHandler {
    private var lines: StreamLogHandler

    package init(label: String) { lines = StreamLogHandler.standardError(label: label) }

    package var logLevel: Logger.Level {
        get { lines.logLevel }
        set { lines.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { lines.metadata }
        set { lines.metadata = Self.escaped(newValue) }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { lines.metadataProvider }
        set { lines.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { lines[metadataKey: key] }
        set { lines[metadataKey: key] = newValue.map(Self.escaped) }
    }

    package func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.escapedForDisplay)"
        event.metadata = event.metadata.map { Self.escaped($0.withoutServices) }
        lines.log(event: event)
    }

    private static func escaped(_ metadata: Logger.Metadata) -> Logger.Metadata { metadata.mapValues(escaped) }

    private static func escaped(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
        "\(value.description.escapedForDisplay)"
    }
}
