export const clientTypes = () => ''
