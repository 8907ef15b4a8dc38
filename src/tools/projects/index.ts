/** Tools for projects and folders, which only a licensed n8n has. */
export { projectList } from "./projectList.ts"
