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
        let defects = JWSDefect.allCases.filter { $0.kinds.contains(kind) }
        if let defect = defects.first(where: { $0.rawValue == name }) { return try minter.mint(kind, with: defect) }
        return try minter.mint(kind, with: chainDefect(name, otherNames: defects.map(\.rawValue))).jws
    }

    /// Creates a receipt with the defect of this name.
    static func receipt(_ name: String, by minter: ReceiptMinter) throws -> [UInt8] {
        if let defect = ReceiptDefect(rawValue: name) { return try minter.mint(with: defect) }
        return try minter.mint(with: chainDefect(name, otherNames: ReceiptDefect.allCases.map(\.rawValue))).receipt
    }

    private static let chainDefects = ChainDefect.allCases.filter { $0 != .rootExpiredAtSigning }

    /// Returns the defect of a certificate chain with this name. Unknown names throw an error.
    ///
    /// - Parameter otherNames: the defects that this kind of artifact can have itself, for the error.
    private static func chainDefect(_ name: String, otherNames: [String]) throws -> ChainDefect {
        guard name != ChainDefect.rootExpiredAtSigning.rawValue else {
            throw CommandError(
                "`\(name)` can't be minted: a verifier that trusts the authority ignores the root in the artifact and accepts it; choose `intermediateExpiredAtSigning` or `leafExpiredAtSigning`"
            )
        }
        if let defect = chainDefects.first(where: { $0.rawValue == name }) { return defect }
        let names = (otherNames + chainDefects.map(\.rawValue)).sorted().joined(separator: ", ")
        throw CommandError("`\(name)` isn't a defect of this kind of artifact; choose one of \(names)")
    }
}
