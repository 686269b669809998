import ArgumentParser
import TenureCore

extension Secret: ExpressibleByArgument where Value == String {
    package init?(argument: String) {
        self.init(argument)
    }

    /// ArgumentParser shows it in help.
    package var defaultValueDescription: String { description }
}
