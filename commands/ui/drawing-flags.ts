/** The flags of verbs that draw; what draws is loaded only where it is wanted. */
import { text, toggle } from '../cli/command.ts'

export const SVG = text('Write the drawing as a picture (SVG)', { placeholder: 'FILE' })

/** Those of a list, which is drawn only where that is asked for. */
export const DRAWN = { plot: toggle('Draw them over time, below the table'), svg: SVG }
