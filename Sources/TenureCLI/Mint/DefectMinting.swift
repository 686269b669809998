import TenureAppStore
import TenureMint

/// Creates signed artifacts with the defect that `tenure mint --defect` names: a defect of the artifact itself, or of
/// its certificate chain. Unknown names throw an error that lists the valid names.
///
/// `rootExpiredAtSigning` isn't offered: a verifier that trusts the authority's own root accepts the artifact, because
/// it ignores the root in the artifact.
enum DefectMinting {
    /// Creates a JWS with the defect of this name.
    static func jws(_ name: String, of kind: JWSKind, by minter: JWSMinter) throws -> [UInt8] {
        if let defect = JWSDefect(rawValue: name), defect.kinds.contains(kind) {
            return try minter.mint(kind, with: defect)
        }
        if let defect = try chainDefect(name) { return try minter.mint(kind, with: defect).jws }
        throw unknown(name, known: JWSDefect.allCases.filter { $0.kinds.contains(kind) }.map(\.rawValue))
    }

    /// Creates a receipt with the defect of this name.
    static func receipt(_ name: String, by minter: ReceiptMinter) throws -> [UInt8] {
        if let defect = ReceiptDefect(rawValue: name) { return try minter.mint(with: defect) }
        if let defect = try chainDefect(name) { return try minter.mint(with: defect).receipt }
        throw unknown(name, known: ReceiptDefect.allCases.map(\.rawValue))
    }

    private static let chainDefects = ChainDefect.allCases.filter { $0 != .rootExpiredAtSigning }

    /// Returns the defect of a certificate chain with this name; nil if the name isn't such a defect.
    private static func chainDefect(_ name: String) throws -> ChainDefect? {
        guard name != ChainDefect.rootExpiredAtSigning.rawValue else {
            throw CommandError(
                "`\(name)` can't be minted: a verifier that trusts the authority ignores the root in the artifact and accepts it; choose `intermediateExpiredAtSigning` or `leafExpiredAtSigning`"
            )
        }
        return chainDefects.first { $0.rawValue == name }
    }

    /// Returns the error for an unknown name.
    ///
    /// - Parameter known: the defects that this kind of artifact can have itself.
    private static func unknown(_ name: String, known: [String]) -> CommandError {
        let names = (known + chainDefects.map(\.rawValue)).sorted().joined(separator: ", ")
        return CommandError("`\(name)` isn't a defect of this kind of artifact; choose one of \(names)")
    }
}
