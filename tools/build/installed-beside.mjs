// What npm installs beside dist/: SQLite and the binaries of the embedded chain, each in the version of the lock file.
// Every other package is bundled into dist/, so that npm resolves nothing on a user's machine.
// All are optional dependencies, so that an installation does not fail if one has no binary here and cannot be compiled;
// the first command that needs it says what is missing and how to get it (src/platform/native-modules.ts).
const SQLITES = ['better-sqlite3', 'better-sqlite3-13']
const SVM = 'litesvm'

/** The dependencies of the published manifest, all with exact versions. */
export function installedBeside({ packages }) {
  const binaries = Object.keys(packages[`node_modules/${SVM}`].optionalDependencies)
  const exact = ({ name, version }) => (name === undefined ? version : `npm:${name}@${version}`)
  const versions = (names) => Object.fromEntries(names.map((name) => [name, exact(packages[`node_modules/${name}`])]))
  return { dependencies: {}, optionalDependencies: versions([...SQLITES, ...binaries]) }
}

/** The entries of the lock file that those packages need, with their paths. */
export function lockedBeside(lock) {
  const { dependencies, optionalDependencies } = installedBeside(lock)
  const found = new Map()
  const open = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => pathOf(lock, '', name))
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    const entry = lock.packages[path]
    found.set(path, { ...entry, optional: true })
    const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    open.push(...names.map((name) => pathOf(lock, path, name)).filter((needed) => needed !== undefined))
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Where Node finds a package from `from`: in its own node_modules, or in those of a folder above. */
export function pathOf({ packages }, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
  }
}
