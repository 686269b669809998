import ArgumentParser
import TenureCore

extension Secret: ExpressibleByArgument where Value == String {
    init?(argument: String) {
        self.init(argument)
    }

    /// The default value in the help, which doesn't reveal the secret.
    var defaultValueDescription: String { description }
}
