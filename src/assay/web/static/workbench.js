// Starts the parts of a page.

import { watchCharts } from "./pictures.js";
import { watchCopying } from "./copying.js";
import { watchFilter } from "./filter.js";
import { watchKeys } from "./keys.js";
import { watchLists } from "./lists.js";
import { watchState } from "./live.js";
import { watchSaving } from "./saving.js";
import { watchTheme } from "./themes.js";

watchTheme();
watchState();
watchLists();
watchKeys();
watchCopying();
watchSaving();
watchFilter();
watchCharts();
document.documentElement.dataset.ready = "";
