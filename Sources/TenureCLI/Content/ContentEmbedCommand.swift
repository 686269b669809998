import ArgumentParser
import TenureContent
import TenureContentPublishing

struct ContentEmbedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "embed",
        abstract: "Write asset packs as plain files for the app's bundle.",
        discussion: """
            Writes `<pack>/<path>` for each file, and `content.json`. Add the folder to the app in Xcode as a folder. The \
            client opens these files in place. A pack in the bundle is installed from the first start, without a network. \
            A version that you publish later is its update.

            Running the command again replaces the folder that it wrote. The command refuses a folder with other files.

            Exit codes: 0 written, 2 mistakes in the file or in the packs, 1 error, 64 wrong usage.

            Example:
              tenure content embed content.yaml --to Calculator/Content
            """
    )

    @OptionGroup var content: ContentFileOptions

    @Option(help: ArgumentHelp("The folder for the bundle. Created if it doesn't exist.", valueName: "folder"))
    var to: String

    func run() async throws {
        let content = try content.readOrRefuse()
        let embedded = try content.showingProgress { progress in
            try ContentEmbedder(folder: to).embed(content.packs, progress: progress)
        }
        for pack in embedded.packs {
            Terminal.standardOutput.write(
                "\(pack.name): \(counted(pack.files.count, "file")), \(ByteCount(pack.installedSize))")
        }
        Terminal.standardOutput.write("wrote `\(to)/\(EmbeddedContent.fileName)`")
    }
}
