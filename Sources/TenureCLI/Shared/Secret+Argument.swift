import ArgumentParser
import TenureCore

/// Reads an option of the command line as a secret, so that no log or error shows it.
extension Secret: ExpressibleByArgument where Value == String {
    init?(argument: String) {
        self.init(argument)
    }

    /// The default value in the help, which doesn't reveal the secret.
    var defaultValueDescription: String { description }
}
