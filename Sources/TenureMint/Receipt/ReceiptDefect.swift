/// Defects of a receipt with a valid chain, and unusual but valid variants. The raw values are names for
/// `tenure mint --defect`; `corrupt` in `CorruptedReceipt.swift` makes each defect.
package enum ReceiptDefect: String, CaseIterable, Sendable, Hashable {
    // The container (CMS SignedData) around the content. Its certificates are called the bag.
    case trailingByte, truncated, longLength, tagOfSeveralBytes, indefinitePrimitive, deepNesting
    case detached, extraSigner, noSigner, wrongSignedDataVersion
    case signerNotInBag, signerTwice, noCertificates, noIntermediate, tooManyCertificates, rootTwice
    case unsignedAttributes, revocationLists, extraDigestAlgorithm
    case digestMD5, digestSHA512, signatureECDSA, mismatchedSignatureAlgorithm
    // The signature.
    case tamperedContent, foreignSigner
    case foreignSignedDigest, signedAttributesWithoutDigest, signedAttributesWithoutContentType
    // The content.
    case trailingContentByte, attributeTypeOverflow, negativeAttributeType, attributeOfThreeValues
    case noReceiptType, noBundleID, emptyBundleID, invalidUTF8
    case duplicateReceiptType, duplicateBundleID, duplicateAppVersion, duplicateOpaqueValue, duplicateHash
    case duplicateCreationDate, duplicateOriginalVersion, duplicateOriginalPurchaseDate
    case unreadableOriginalPurchaseDate, unreadableExpirationDate
    case unreadablePurchaseDate, unreadableExpiresDate, unreadableCancellationDate
    case purchaseWithoutProduct, purchaseWithoutTransaction, duplicateCancellationDate
    case futureCreation, wrongBundle, wrongBundleCase, decomposedBundle
    case sandbox, xcodeClaim, unknownReceiptType
    case oversized
    // Unusual, but valid.
    case noCreationDate, unreadableCreationDate, unknownAttributes, repeatedUnknownAttribute, unsortedAttributes,
        rootFirst, noNullParameters
    case opensslSignedAttributes, chunkedContent, nestedChunks, indefiniteLengths, unreadableUndocumentedDate
    case fractionalDate, dateWithOffset, foreignCertificateInBag, tenCertificates, garbageRoot
}
