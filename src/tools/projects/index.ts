/** Tools for projects and folders, which only a licensed n8n has, in the order clients see them. */
import { projectList } from "./projectList.ts"

export { projectList }

export default [projectList] as const
