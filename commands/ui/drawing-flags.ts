/** Declares the flags of verbs that draw; the drawing code is loaded only if needed. */
import { text, toggle } from '../cli/command.ts'

export const SVG = text('Write the drawing as a picture (SVG)', { placeholder: 'FILE' })

/** The flags of a list, which is drawn only on request. */
export const DRAWN = { plot: toggle('Draw them over time, below the table'), svg: SVG }
