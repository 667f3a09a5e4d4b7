/** Skips what `npm test` runs whole: the soak runs only the rest of these files. */
import { beforeEach } from 'vitest'

beforeEach(({ task, skip }) => skip(!task.tags?.includes('sampled')))
