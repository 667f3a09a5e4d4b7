// Writes npm-shrinkwrap.json for the package: what package-lock.json says of the packages that are installed beside it.
// It stands in the folder only while npm packs, because npm would prefer it to package-lock.json; `--remove` ends that.
import { readFile, rm, writeFile } from 'node:fs/promises'

const FILE = 'npm-shrinkwrap.json'

if (process.argv.includes('--remove')) await rm(FILE, { force: true })
else await writeFile(FILE, shrinkwrapOf(JSON.parse(await readFile('package-lock.json', 'utf8'))))

/** The lock file without what only development needs: all of that is bundled into dist/, or not shipped. */
function shrinkwrapOf(lock) {
  const { devDependencies: _, ...root } = lock.packages['']
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
  )
  return `${JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(installed) } }, null, 2)}\n`
}
