import TenureAppStore
import TenureMint

/// Mints artifacts with the defect in `--defect`: a defect of the artifact itself, or of its certificate chain. Unknown
/// names throw an error that lists the valid ones.
enum DefectName {
    static func jws(_ name: String, of kind: JWSKind, by minter: JWSMinter) throws -> [UInt8] {
        if let defect = JWSDefect(rawValue: name), defect.kinds.contains(kind) {
            return try minter.mint(kind, with: defect)
        }
        if let defect = ChainDefect(rawValue: name) { return try minter.mint(kind, with: defect).jws }
        throw unknown(name, known: JWSDefect.allCases.filter { $0.kinds.contains(kind) }.map(\.rawValue))
    }

    static func receipt(_ name: String, by minter: ReceiptMinter) throws -> [UInt8] {
        if let defect = ReceiptDefect(rawValue: name) { return try minter.mint(with: defect) }
        if let defect = ChainDefect(rawValue: name) { return try minter.mint(with: defect).receipt }
        throw unknown(name, known: ReceiptDefect.allCases.map(\.rawValue))
    }

    private static func unknown(_ name: String, known: [String]) -> CommandError {
        let names = (known + ChainDefect.allCases.map(\.rawValue)).sorted().joined(separator: ", ")
        return CommandError("`\(name)` isn't a defect of this kind of artifact; choose one of \(names)")
    }
}
