import { settingsByName } from "../../src/platform/config/SettingsTable.ts"

/** The name of every variable that the service reads at its start. */
export const settingNames: ReadonlyArray<string> = Object.keys(settingsByName)
