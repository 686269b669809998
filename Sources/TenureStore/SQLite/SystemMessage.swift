import Foundation

/// The system's message for the last failed call, by `errno`, in lower case: `no space left on device`.
var systemMessage: String { String(cString: strerror(errno)).lowercased() }
