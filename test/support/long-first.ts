/** Starts the longest test files first: if they came last, the other workers would wait for them. */
import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The named files come first, in this order; the others as Vitest sorts them. */
export const longFirst = (...names: string[]) =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const placeOf = ({ moduleId }: TestSpecification) => {
        const place = names.indexOf(basename(moduleId, '.test.ts'))
        return place < 0 ? names.length : place
      }
      return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
    }
  }
