import TenureCore

/// Recognizes names of platforms that people and other systems use, such as `iPadOS` or `MAC_OS`.
enum PlatformName {
    /// Platforms by common names in lower case, which the App Store doesn't use.
    private static let commonNames: [String: Platform] = [
        "ipados": .iOS, "iphone": .iOS, "ipad": .iOS, "iphoneos": .iOS,
        "mac": .macOS, "osx": .macOS, "macosx": .macOS, "mac os x": .macOS, "mac os": .macOS, "maccatalyst": .macOS,
        "catalyst": .macOS, "os x": .macOS, "appletv": .tvOS, "tv": .tvOS, "watch": .watchOS, "xros": .visionOS,
        "vision": .visionOS,
    ]

    /// Returns the platform that a name in an exported list means; nil if the name is unknown. Case, blanks and `_` are
    /// ignored, because App Store Connect writes `MAC_OS`.
    static func meant(by name: String) -> Platform? {
        let letters = name.lowercased().filter { !"_ ".contains($0) }
        return Platform.allCases.first { $0.rawValue.lowercased() == letters } ?? commonNames[letters]
    }

    /// Returns the message about a string that isn't the name of a platform.
    static func advice(for name: String) -> String {
        guard let platform = commonNames[name.lowercased()] else {
            return "`\(name.shortened)` isn't a platform; "
                + Spelling.advice(for: name, among: Platform.allCases.map(\.rawValue))
        }
        return "`\(name)` isn't a platform that the App Store reports; write `\(platform.rawValue)`"
    }
}
