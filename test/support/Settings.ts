import { settingsByName } from "../../src/platform/config/SettingsTable.ts"
import { fileVariable } from "../../src/platform/config/Variables.ts"

/** The names of all variables that the service reads at its start. */
export const settingNames: ReadonlyArray<string> = Object.entries(settingsByName).flatMap(([name, { isSecret }]) =>
  isSecret ? [name, fileVariable(name)] : [name]
)
