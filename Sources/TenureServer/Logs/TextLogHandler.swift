package import Logging
import TenureCore

/// Writes lines of text to standard error, for people. The handler escapes characters that would alter a terminal's
/// display.
package struct TextLogHandler: LogHandler {
    private var lines: StreamLogHandler

    package init(label: String) {
        lines = StreamLogHandler.standardError(label: label)
    }

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
