package import Foundation
package import TenureAppStore
import TenureCore

/// Creates app receipts like those of the App Store, or of Xcode in the environment Xcode, signed with the keys of a
/// test authority.
package struct ReceiptMinter: Sendable {
    package let authority: TestAuthority
    package let app: MintedApp
    /// The creation date of the receipts, at which they are signed.
    package let signingDate: Date

    package init(authority: TestAuthority, app: MintedApp = MintedApp(), signedAt signingDate: Date) {
        self.authority = authority
        self.app = app
        self.signingDate = signingDate
    }

    /// The format of receipts in the environment.
    package var style: ReceiptStyle {
        app.environment == .xcode ? ReceiptStyle(form: .ber, namesDigestInSignature: true) : ReceiptStyle()
    }

    /// Creates a valid receipt from the default attributes with changes.
    package func mint(_ change: (inout ReceiptDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = defaultReceipt
        try change(&draft)
        return try mint(draft)
    }

    /// Creates a receipt with any attributes and a valid signature.
    package func mint(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> [UInt8] {
        try assembly(draft, style: style).bytes()
    }

    /// Creates a receipt with a defect.
    package func mint(with defect: ReceiptDefect) throws -> [UInt8] {
        var draft = defaultReceipt
        defect.corrupt(&draft, at: signingDate)
        var assembly = try self.assembly(draft)
        try defect.corrupt(&assembly, draft: draft, by: self)
        return try assembly.bytes()
    }

    /// Creates a receipt with a defect in its chain of certificates, and the anchors (trusted roots) with which to
    /// verify it.
    package func mint(with defect: ChainDefect) throws -> (receipt: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .receipt, defect: defect, signedAt: signingDate)
        let assembly = try ReceiptAssembly(
            content: defaultReceipt.encoded(sorted: true), chain: chain.issued, style: style)
        // A chain under another root of the same name must be rejected by verifiers that trust the authority's root. An
        // expired root must be trusted, so that only its expiration is wrong.
        let root = defect == .namesakeRoot ? authority.receipts.root : chain.root
        return (try assembly.bytes(), try TrustAnchors(der: [root.der]))
    }

    /// Prepares a receipt with the authority's valid chain, or with Xcode's certificate.
    func assembly(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> ReceiptAssembly {
        let style = style ?? self.style
        return try ReceiptAssembly(
            content: draft.encoded(sorted: style.form == .der),
            chain: app.environment == .xcode ? [authority.xcodeReceipts] : authority.receipts.issued, style: style)
    }
}
