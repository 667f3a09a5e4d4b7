/** Tables of the installation itself: its settings, and counters of numbers without gaps. */

interface SettingsTable {
  name: string
  value: string
}

interface CountersTable {
  name: string
  value: number
}

export interface InstallationTables {
  settings: SettingsTable
  counters: CountersTable
}
