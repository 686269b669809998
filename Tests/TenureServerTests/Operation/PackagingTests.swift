import CommandRunner
import Foundation
import Testing

@testable import TenureServer

@Suite struct packaging {
    private func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the instructions of a container file, with continued lines joined.
    private func instructions() throws -> [String] {
        try text("Packaging/Containerfile").replacingOccurrences(of: "\\\n", with: " ")
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test func `the container file installs dependencies only with Scripts/install-dependencies`() throws {
        let instructions = try instructions()
        let install = try #require(instructions.firstIndex(of: "RUN Scripts/install-dependencies build"))
        let build = try #require(instructions.firstIndex { $0.hasPrefix("RUN swift build") })
        #expect(install < build)
        let runs = instructions.filter { $0.hasPrefix("RUN") }
        #expect(runs.contains("RUN Scripts/install-dependencies run"))
        for word in ["apt-get", "apt ", "curl ", "wget "] {
            #expect(!runs.contains { $0.contains(word) }, "\(word) belongs in Scripts/install-dependencies")
        }
        // `make release` must build the same product.
        let make = try text("Makefile")
        #expect(
            make.contains(
                "@Scripts/install-dependencies build\n\t$(SWIFT) build -c release $(TRAITS) --product tenure-cli\n"))
        #expect(instructions[build].hasSuffix("-c release --traits Service --product tenure-cli"))
        #expect(instructions.contains("COPY --from=build /source/.build/release/tenure-cli /usr/local/bin/tenure"))
    }

    /// Checks the libraries that the dynamic loader needs, except those of Debian's base system and of Swift's image.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/readelf")))
    func `the container file installs every library that the command is linked with`() throws {
        let needed = try Tool.run("/usr/bin/readelf", ["-d", Command.executable.path]).output.split(separator: "\n")
            .filter { $0.contains("(NEEDED)") }
            .compactMap { $0.split(separator: "[").last?.split(separator: "]").first.map(String.init) }
        #expect(needed.contains("libpq.so.5"), "\(needed)")
        let script = try text("Scripts/install-dependencies")
        let given = [
            "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libc.", "libm.", "libz.",
            "libgcc_s.", "libstdc++.", "libpthread.", "libdl.", "librt.", "libutil.", "ld-linux",
        ]
        for library in needed where !given.contains(where: { library.hasPrefix($0) }) {
            #expect(
                script.contains("library \(library) || missing+=("),
                "Scripts/install-dependencies doesn't install \(library)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
    func `the systemd unit passes systemd-analyze`() throws {
        func verify(_ file: String) throws -> Command.Result {
            try Tool.run("/usr/bin/systemd-analyze", ["verify", "--man=no", file])
        }
        let folder = try Folder()
        let unit = try text("Packaging/tenure.service")
            .replacingOccurrences(of: "/usr/local/bin/tenure", with: Command.executable.path)
        let file = try folder.write(unit, to: "tenure.service")
        let verified = try verify(file)
        #expect(verified.status == 0 && verified.output == "" && verified.errors == "", "\(verified)")
        let wrong = try folder.write(unit + "\nNoNewPrivilege=true\n", to: "wrong.service")
        #expect(try verify(wrong).errors.contains("NoNewPrivilege"))
    }

    @Test func `the container runs without root privileges, and stops the service with SIGTERM`() throws {
        let instructions = try instructions()
        #expect(instructions.contains { $0.hasPrefix("USER ") && $0 != "USER root" && $0 != "USER 0" })
        #expect(instructions.contains("STOPSIGNAL SIGTERM"))
        #expect(
            instructions.contains {
                $0.hasPrefix("ENTRYPOINT [\"tenure\", \"serve\"")
                    || $0.hasPrefix("ENTRYPOINT [\"/usr/local/bin/tenure\", \"serve\"")
            })
    }

    @Test func `files in Packaging use existing settings, and systemd waits longer than the shutdown timeout`() throws {
        let container = try text("Packaging/Containerfile")
        let unit = try text("Packaging/tenure.service")
        let known = Set(Setting.configurable.map(\.variable) + [Setting.config.variable])
        for text in [container, unit] {
            let named = text.split { !($0.isLetter || $0 == "_") }.filter { $0.hasPrefix(Setting.variablePrefix) }
            for name in named { #expect(known.contains(String(name)), "\(name)") }
        }
        for word in unit.split(whereSeparator: \.isWhitespace) where word.hasPrefix("--") {
            #expect(Setting.all.contains { word.hasPrefix($0.flag) }, "\(word)")
        }
        let timeout = unit.split(separator: "\n").first { $0.hasPrefix("TimeoutStopSec=") }
        let seconds = try #require(timeout?.split(separator: "=").last.flatMap { Int($0) })
        #expect(seconds > (Setting.shutdownTimeout.fallback.flatMap { Int($0) } ?? .max))
        for line in [
            "ExecStartPre=/usr/local/bin/tenure serve --config /etc/tenure/tenure.yaml --check",
            "ExecReload=/bin/kill -HUP $MAINPID", "NoNewPrivileges=true", "ProtectSystem=strict",
        ] {
            #expect(unit.contains("\n\(line)\n"), "\(line)")
        }
    }
}
