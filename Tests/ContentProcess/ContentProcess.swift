import Foundation
import Tenure

/// A process for tests of content delivery: an app with asset packs, a web server, or the system's download daemon.
///
/// ```
/// ContentProcess serve FOLDER [PORT]
/// ContentProcess app FOLDER URL KEY COMMANDS [SETTING=VALUE…]
/// ContentProcess daemon FOLDER
/// ```
@main
struct ContentProcess {
    static func main() async throws {
        // A connection that its client has closed is an error of `send`, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("serve"?, 2...3):
            try FileServer(folder: arguments[1], port: UInt16(arguments.dropFirst(2).first ?? "0") ?? 0).run()
        case ("app"?, 5...): try await ContentApp(Array(arguments.dropFirst())).run()
        case ("daemon"?, 2): await DownloadDaemon(folder: arguments[1]).run()
        default: say("unknown step")
        }
    }

    /// Writes at once, because a killed process would lose the contents of a buffer.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
